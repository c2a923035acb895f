import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.MessageFormatter;
import org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter;
import org.apache.kafka.tools.consumer.OffsetsMessageFormatter;

/** What the formatters of Kafka's console consumer print of records of __consumer_offsets.
 *
 *  Arguments: a file of records, and one to write. A record is the size of its key (int32), the key, the size of its
 *  value (-1: null), the value. What is printed of all stands in one line for each of the formatters.
 */
public class FormatterOracle {
    public static void main(String[] args) throws Exception {
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[1])), false, StandardCharsets.UTF_8)) {
            for (MessageFormatter formatter : new MessageFormatter[] {
                new GroupMetadataMessageFormatter(), new OffsetsMessageFormatter()}) {
                formatter.configure(Map.of());
                try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(Path.of(args[0]))))) {
                    for (int count = in.readInt(); count > 0; count--) {
                        formatter.writeTo(new ConsumerRecord<>("__consumer_offsets", 0, 0, next(in), next(in)), out);
                    }
                }
                out.print('\n');
            }
        }
    }

    private static byte[] next(DataInputStream in) throws Exception {
        int size = in.readInt();
        return size < 0 ? null : in.readNBytes(size);
    }
}
