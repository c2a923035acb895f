import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.MessageFormatter;

/** What formatters of Kafka's console consumer print of records of an internal topic.
 *
 *  Arguments: a file of records, one to write, and the classes of the formatters. A record is the size of its key (int32), the key, the size of its
 *  value (-1: null), the value. What is printed of all stands in one line for each of the formatters.
 */
public class FormatterOracle {
    public static void main(String[] args) throws Exception {
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[1])), false, StandardCharsets.UTF_8)) {
            for (String name : Arrays.copyOfRange(args, 2, args.length)) {
                MessageFormatter formatter =
                    (MessageFormatter) Class.forName("org.apache.kafka.tools.consumer." + name).getConstructor().newInstance();
                formatter.configure(Map.of());
                try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(Path.of(args[0]))))) {
                    for (int count = in.readInt(); count > 0; count--) {
                        formatter.writeTo(new ConsumerRecord<>("topic", 0, 0, next(in), next(in)), out);
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
