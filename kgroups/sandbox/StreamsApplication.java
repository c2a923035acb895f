import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * A Kafka Streams application that counts how often each value was written. It has a repartition topic
 * (&lt;id&gt;-by-value-repartition), an in-memory store, and its changelog (&lt;id&gt;-counts-changelog). SIGTERM ends it.
 *
 * Arguments are name=value: "topics" (comma-separated), "instances" (their number, in this JVM, each with its own process
 * ID), and any setting of Kafka Streams. "standby" is the number of standby replicas, for either protocol.
 */
public final class StreamsApplication {
    public static void main(String[] words) throws Exception {
        Map<String, String> given = new LinkedHashMap<>();
        for (String word : words) {
            given.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
        }
        List<String> topics = Arrays.asList(given.remove("topics").split(","));
        int instances = Integer.parseInt(given.getOrDefault("instances", "1"));
        String standby = given.getOrDefault("standby", "0");
        given.keySet().removeAll(List.of("instances", "standby"));
        if (!given.getOrDefault(StreamsConfig.GROUP_PROTOCOL_CONFIG, "classic").equalsIgnoreCase("streams")) {
            given.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, standby);
        } else if (!standby.equals("0")) {
            setOnBrokers(given, "streams.num.standby.replicas", standby);
        }
        run(instances, topics, given);
    }

    /** Sets the number of standby tasks on the brokers, which assign tasks in the streams protocol. */
    private static void setOnBrokers(Map<String, String> given, String name, String value) throws Exception {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, given.get(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG));
        ConfigResource group =
            new ConfigResource(ConfigResource.Type.GROUP, given.get(StreamsConfig.APPLICATION_ID_CONFIG));
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
        try (Admin admin = Admin.create(settings)) {
            admin.incrementalAlterConfigs(Map.of(group, List.of(set))).all().get();
        }
    }

    private static Topology topology(List<String> topics) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(topics, Consumed.with(Serdes.String(), Serdes.String()))
            .groupBy((key, value) -> value, Grouped.with("by-value", Serdes.String(), Serdes.String()))
            .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("counts"))
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Long()));
        return builder.build();
    }

    private static void run(int instances, List<String> topics, Map<String, String> given) throws Exception {
        List<KafkaStreams> running = new ArrayList<>();
        CountDownLatch ended = new CountDownLatch(1);
        for (int number = 0; number < instances; number++) {
            Properties settings = new Properties();
            settings.putAll(given);
            String client = given.get(StreamsConfig.APPLICATION_ID_CONFIG) + "-" + number;
            settings.putIfAbsent(StreamsConfig.CLIENT_ID_CONFIG, client);
            settings.put(StreamsConfig.STATE_DIR_CONFIG, Path.of(given.get(StreamsConfig.STATE_DIR_CONFIG), client).toString());
            KafkaStreams streams = new KafkaStreams(topology(topics), settings);
            streams.setStateListener((now, before) -> {
                System.out.println(client + " is " + now);
                if (now == KafkaStreams.State.ERROR) {
                    ended.countDown();
                }
            });
            running.add(streams);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> running.parallelStream().forEach(KafkaStreams::close)));
        running.forEach(KafkaStreams::start);
        ended.await();
        System.exit(1);
    }
}
