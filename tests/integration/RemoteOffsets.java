import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.mirror.RemoteClusterUtils;

/**
 * Print what RemoteClusterUtils.translateOffsets returns.
 *
 * <p>Arguments: bootstrap servers of the target; flows with a comma in between, each an alias of the source, "=", and
 * replication.policy.class; groups. Each line has alias, group, topic, partition, and offset, separated by tabs.
 */
public class RemoteOffsets {
    public static void main(String[] args) throws Exception {
        for (String flow : args[1].split(",")) {
            String[] pair = flow.split("=");
            Map<String, Object> settings = new HashMap<>();
            settings.put("bootstrap.servers", args[0]);
            settings.put("replication.policy.class", pair[1]);
            for (int at = 2; at < args.length; at++) {
                print(settings, pair[0], args[at]);
            }
        }
    }

    private static void print(Map<String, Object> settings, String alias, String group) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets =
            RemoteClusterUtils.translateOffsets(settings, alias, group, Duration.ofSeconds(60));
        for (Map.Entry<TopicPartition, OffsetAndMetadata> each : offsets.entrySet()) {
            TopicPartition place = each.getKey();
            System.out.println(String.join(
                "\t", alias, group, place.topic(), place.partition() + "", each.getValue().offset() + ""));
        }
    }
}
