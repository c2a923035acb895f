// Browsers do not start workers for pages that are opened from disk. The worker of the search runs in a hidden frame
// there instead. This file has the name by which the theme recognizes such a replacement; otherwise it loads one from
// the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.body.append(frame);
      this.inner = frame.contentWindow;
      const receive = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((loaded, failed) => {
        const page = frame.contentDocument;
        this.inner.postMessage = (data) => setTimeout(() => receive(data));
        this.inner.importScripts = (...urls) =>
          urls.reduce((before, each) => before.then(() => load(each)), Promise.resolve());
        const load = (address) =>
          new Promise((done, error) => {
            const script = page.createElement("script");
            script.src = address;
            script.onload = done;
            script.onerror = error;
            page.head.append(script);
          });
        load(url).then(loaded, failed);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
}

// The search would read the dashes of an option as an order to leave out pages that have the word.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...more) {
  const query = typeof message?.data === "string";
  return post.call(this, query ? { ...message, data: message.data.replace(/(?<![^\s"])-+(?=\w)/g, "") } : message, ...more);
};
