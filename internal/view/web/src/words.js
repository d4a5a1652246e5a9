// The words of the reports that not everybody knows.
export const words = [
  ["section", "what threads do between two places where they meet: a barrier, the end of a loop, or of the threads"],
  ["instance", "one passage of the threads through a section"],
  ["imbalance", "the share of a section's time, of all its threads, that those who come early wait for the last"],
  ["Parallel efficiency", "the share of the cores' time that is useful work: load balance x serialisation x transfer"],
  ["Load balance", "the mean of the threads' times at work, by the longest: 100 % if all have the same to do"],
  ["Transfer", "what time off the core and the runtime's overhead leave"],
  ["Serialisation", "what is left then: 100 % if no thread ever waits for another in turn"],
  ["score", "how well a line's counts go with the threads' times: above 0.1 is important, 1 explains all"],
  ["explains", "the part of the imbalance that a cause has by the account of the instructions, which adds up"],
  ["R2", "where there is no such account: the share of the differences of the threads' times that goes with its counts"],
  ["found again", "of drawings of the threads or instances by lot, how many name the cause again"],
];

// wordOf says what a word means; undefined if it is a plain one.
export const wordOf = (word) => (words.find(([w]) => w === word) || [])[1];
