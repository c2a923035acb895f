import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Java's own consumers, as many as wanted, in one process.
 *
 *  Argument: the bootstrap servers. For each line of stdin, "client-id group topic,topic key=value ...", a consumer with
 *  these settings joins; at the end of stdin all leave. Of each partition, the first record that a consumer reads is
 *  printed: "first client-id topic partition offset".
 */
public class JavaMembers {
    private static volatile boolean ended = false;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<Thread> members = new ArrayList<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
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
            while (!ended)
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50)))
                    if (seen.add(new TopicPartition(record.topic(), record.partition())))
                        System.out.println("first " + words[0] + " " + record.topic() + " " + record.partition() + " "
                            + record.offset());
        }
    }
}
