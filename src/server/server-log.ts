/** Where the server reports what is nobody's answer: the log of whoever runs it. */
export interface ServerLog {
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}
