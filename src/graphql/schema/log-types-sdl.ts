/** The types of logs, as SDL, in the form of `kindTypesSdl`. */
export const logTypesSdl: string = `
"Lines of the logs of some pods: an answer, or the next lines of a subscription."
type PodLogs {
  "The lines, in the order of their times. In a subscription, of those that have come since the last frame."
  lines: [LogLine!]!
  """
  The containers, and how each is read. In a subscription null if none has changed since the last frame;
  the containers of deleted pods are named for a while.
  """
  streams: [LogStream!]
  """
  The number of lines that were left out before these, the oldest: the reader of a subscription was too slow,
  or an answer would have been too large.
  """
  skipped: Int!
  "The number of containers that are not followed, because a user or the gateway follows as many as it may."
  notFollowed: Int!
  "What is missing of clusters, or was last known."
  incomplete: [ClusterGap!]!
}

"One line of a log."
type LogLine {
  "The name of the cluster."
  cluster: String!
  "The namespace of the pod."
  namespace: String!
  "The name of the pod."
  pod: String!
  "The name of the container."
  container: String!
  "When the container runtime has read the line; null if it says nothing."
  time: DateTime
  "The line."
  text: String!
  "Whether the line was longer, and \`text\` is its beginning."
  truncated: Boolean!
  "The line as a JSON object; null if it is none."
  fields: JSON
}

"How the log of a container is read at this time."
type LogStream {
  "The name of the cluster."
  cluster: String!
  "The namespace of the pod."
  namespace: String!
  "The name of the pod."
  pod: String!
  "The name of the container."
  container: String!
  "The state itself."
  state: LogStreamState!
  """
  Why, in one word: what the pod says of the container (\`ContainerCreating\`, \`Completed\`, \`OOMKilled\`),
  \`PodDeleted\`, \`NoPreviousRun\`, \`TOO_MANY_STREAMS\`, or a code of errors. Null if there is nothing to say.
  """
  reason: String
  "The reason as text for people."
  message: String
}

"How the log of a container is read."
enum LogStreamState {
  "The container has not started, or waits to be restarted, or its stream waits for a place."
  WAITING
  "New lines come."
  STREAMING
  "The log was read to its end."
  ENDED
  "The log cannot be read. The gateway tries again where that may help."
  FAILED
}
`
