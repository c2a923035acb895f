import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.security.cert.*;
import java.security.cert.Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.*;

/** Writes the stores that keytool writes, with the same classes, but all in one JVM; and reads properties files. */
public class Stores {
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        var factory = CertificateFactory.getInstance("X.509");
        Certificate own, authority;
        try (var in = Files.newInputStream(folder.resolve("own.der"))) { own = factory.generateCertificate(in); }
        try (var in = Files.newInputStream(folder.resolve("ca.der"))) { authority = factory.generateCertificate(in); }
        PrivateKey key = KeyFactory.getInstance("RSA")
            .generatePrivate(new PKCS8EncodedKeySpec(Files.readAllBytes(folder.resolve("own.key.der"))));
        Certificate[] chain = {own, authority};
        for (String type : List.of("JKS", "PKCS12", "PKCS12-8", "JCEKS")) {
            System.clearProperty("keystore.pkcs12.legacy");
            if (type.equals("PKCS12-8")) System.setProperty("keystore.pkcs12.legacy", "");
            String kind = type.replace("-8", "");
            KeyStore trust = KeyStore.getInstance(kind), keys = KeyStore.getInstance(kind);
            trust.load(null, null);
            trust.setCertificateEntry("ca", authority);
            trust.setCertificateEntry("other", own);
            write(trust, folder.resolve("trust." + type), "storepass");
            keys.load(null, null);
            keys.setCertificateEntry("ca", authority);
            keys.setKeyEntry("me", key, (!kind.equals("JKS") ? "storepass" : "keyp\u00e4ss").toCharArray(), chain);
            write(keys, folder.resolve("keys." + type), "storepass");
        }
        // Every *.properties -> what Java reads: key and value, escaped, one a line; ERROR where it will not.
        try (var files = Files.newDirectoryStream(folder, "*.properties")) {
            for (Path file : files) {
                var found = new Properties();
                var out = new StringBuilder();
                try (var in = Files.newInputStream(file)) {
                    found.load(in);
                    for (String name : new TreeSet<>(found.stringPropertyNames()))
                        out.append(hex(name)).append(' ').append(hex(found.getProperty(name))).append('\n');
                } catch (IllegalArgumentException error) {
                    out.append("ERROR");
                }
                Files.writeString(Path.of(file + ".read"), out);
            }
        }
        // Every *.jaas -> the words that StreamTokenizer finds, set up as Kafka's JaasConfig does.
        try (var files = Files.newDirectoryStream(folder, "*.jaas")) {
            for (Path file : files) {
                var out = new StringBuilder();
                var words = new StreamTokenizer(new StringReader(Files.readString(file)));
                words.slashSlashComments(true);
                words.slashStarComments(true);
                for (char each : "-_$".toCharArray()) words.wordChars(each, each);
                while (words.nextToken() != StreamTokenizer.TT_EOF)
                    out.append(words.sval == null ? String.valueOf((char) words.ttype) : "s" + hex(words.sval)).append('\n');
                Files.writeString(Path.of(file + ".read"), out);
            }
        }
    }

    static void write(KeyStore store, Path path, String password) throws Exception {
        try (var out = Files.newOutputStream(path)) { store.store(out, password.toCharArray()); }
    }

    static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_16BE)) + ".";
    }
}
