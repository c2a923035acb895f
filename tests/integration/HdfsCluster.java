import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** One NameNode and one DataNode of HDFS: prints the port of WebHDFS, and ends with its input. */
public class HdfsCluster {
    public static void main(String[] arguments) throws Exception {
        Configuration settings = new Configuration();
        settings.set("dfs.blocksize", "1048576");
        settings.set("dfs.permissions.superusergroup", "nobody");
        try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(settings, new File(arguments[0])).numDataNodes(1).build()) {
            cluster.waitActive();
            System.out.println("port " + cluster.getNameNode().getHttpAddress().getPort());
            System.in.read();
        }
    }
}
