/** Where the gateway says what happens. */
export interface GatewayLog {
  info(message: string, details?: object): void
  warn(message: string, details?: object): void
  error(message: string, details?: object): void
}

/** For a gateway that nobody listens to. */
export const silentLog: GatewayLog = { info() {}, warn() {}, error() {} }
