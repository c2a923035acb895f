import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Java's own consumers, as many as wanted, in one process.
 *
 *  Argument: the bootstrap servers. For each line of stdin, "client-id group topic,topic key=value ...", a consumer with
 *  these settings joins, and for "leave client-id" it leaves; at the end of stdin all leave. Of each partition, the first
 *  record that a consumer reads is printed: "first client-id topic partition offset"; the number of its partitions
 *  whenever that changes, "assigned client-id number"; and the error that ends it, "failed client-id error".
 */
public class JavaMembers {
    private static volatile boolean ended = false;
    private static final Set<String> LEAVING = ConcurrentHashMap.newKeySet();

    /** An assignor whose assignments have user data. */
    public static class Marking extends RangeAssignor {
        @Override
        public String name() {
            return "marking";
        }

        @Override
        public GroupAssignment assign(Cluster cluster, GroupSubscription subscriptions) {
            Map<String, Assignment> marked = new HashMap<>();
            super.assign(cluster, subscriptions).groupAssignment().forEach((member, assignment) ->
                marked.put(member, new Assignment(assignment.partitions(), ByteBuffer.wrap(new byte[] {1}))));
            return new GroupAssignment(marked);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<Thread> members = new ArrayList<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("leave")) {
                LEAVING.add(words[1]);
                continue;
            }
            Thread member = new Thread(() -> stay(args[0], words));
            member.start();
            members.add(member);
        }
        ended = true;
        for (Thread member : members)
            member.join();
    }

    private static void stay(String bootstrap, String[] words) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("client.id", words[0]);
        settings.put("group.id", words[1]);
        settings.put("enable.auto.commit", "false");
        for (int i = 3; i < words.length; i++)
            settings.put(words[i].split("=")[0], words[i].split("=")[1]);
        try (KafkaConsumer<byte[], byte[]> consumer =
                 new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(words[2].split(",")));
            Set<TopicPartition> seen = new HashSet<>();
            int assigned = 0;
            while (!ended && !LEAVING.contains(words[0])) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50)))
                    if (seen.add(new TopicPartition(record.topic(), record.partition())))
                        System.out.println("first " + words[0] + " " + record.topic() + " " + record.partition() + " "
                            + record.offset());
                if (consumer.assignment().size() != assigned) {
                    assigned = consumer.assignment().size();
                    System.out.println("assigned " + words[0] + " " + assigned);
                }
            }
        } catch (KafkaException error) {
            System.out.println("failed " + words[0] + " " + error);
        }
    }
}
