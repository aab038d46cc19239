/** Where the server reports what is nobody's answer: the log of whoever runs it. A detail named `error` is what was thrown. */
export interface ServerLog {
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}
