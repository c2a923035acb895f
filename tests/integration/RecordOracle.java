import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.BufferedWriter;
import java.io.DataInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;

/** What Kafka itself reads from records of __consumer_offsets, by the classes that its own tools use.
 *
 *  Arguments: a file of records, and one to write. A record is the size of its key (int32), the key, the size of its
 *  value (-1: null), the value. For each one a line is written: {"type", "key", "version", "value"}, or {"error"}.
 */
public class RecordOracle {
    public static void main(String[] args) throws Exception {
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(Path.of(args[0])), 1 << 20));
             BufferedWriter out = Files.newBufferedWriter(Path.of(args[1]), StandardCharsets.UTF_8)) {
            for (int count = in.readInt(); count > 0; count--) {
                out.write(read(serde, next(in), next(in)).toString());
                out.write('\n');
            }
        }
    }

    private static byte[] next(DataInputStream in) throws Exception {
        int size = in.readInt();
        return size < 0 ? null : in.readNBytes(size);
    }

    private static JsonNode read(GroupCoordinatorRecordSerde serde, byte[] key, byte[] value) {
        ObjectNode found = new ObjectNode(JsonNodeFactory.instance);
        try {
            CoordinatorRecord record = serde.deserialize(ByteBuffer.wrap(key), value == null ? null : ByteBuffer.wrap(value));
            found.put("type", record.key().apiKey());
            found.set("key", CoordinatorRecordJsonConverters.writeRecordKeyAsJson(record.key()));
            if (record.value() != null) {
                found.put("version", record.value().version());
                found.set("value", CoordinatorRecordJsonConverters.writeRecordValueAsJson(
                    record.value().message(), record.value().version()));
            }
        } catch (RuntimeException error) {
            found.removeAll();
            found.put("error", String.valueOf(error.getMessage()));
        }
        return found;
    }
}
