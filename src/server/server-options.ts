/*
 * The options of a server, in one place: the interface says what each means, and the schema checks it and holds its default.
 * The checks of `startGraphQLServer` follow from the defaults. `docs/configuration.md` quotes the comments.
 */

import { aFlag, aLimit, aString, checksLike, type OptionChecks } from '../lib/options.ts'
import { besideHeap } from '../lib/process-memory.ts'
import { z } from 'zod'
import type { UnsentLimits, UserQuotaLimits } from './user-limits.ts'

/** The options of a server, with its limits per request, per user and in total. */
export interface ServerOptions extends UserQuotaLimits, UnsentLimits {
  /** The address to listen on: loopback, unless callers are authenticated or `insecureNoAuth` is set. */
  readonly host: string
  /** The port of the API; 0 for any free port. */
  readonly port: number
  /**
   * Allows an address beyond loopback without authentication. Every client that reaches it reads with the gateway's own
   * credentials.
   */
  readonly insecureNoAuth: boolean
  /** The file of the server's certificate, PEM; absent: no TLS. It is read again when it changes. */
  readonly tlsCert?: string | undefined
  /** The file of the certificate's key, PEM. */
  readonly tlsKey?: string | undefined
  /** The file of the CA of trusted client certificates, for `auth.mode: request-header`. */
  readonly tlsClientCa?: string | undefined
  /**
   * The address at which browsers see the gateway, if a proxy stands before it: `https://portal.example.com`, without a
   * path. Browser sign-in returns there, and only its pages may send the session. Absent: the address of each request.
   */
  readonly publicUrl?: string | undefined
  /** Allowed names in the `Host` header besides loopback and the bound address: `name`, or `name:port`. */
  readonly allowedHosts: readonly string[]
  /** Origins of web pages that may send operations, besides the gateway's own: `https://portal.example.com`. */
  readonly allowedOrigins: readonly string[]
  /** Headers that pages of allowed origins may send, besides those of GraphQL clients and of W3C tracing. */
  readonly allowedHeaders: readonly string[]
  /** Whether to serve GraphiQL. Absent: only while bound to loopback. */
  readonly graphiql?: boolean | undefined
  /** Whether to serve the portal at `/`. */
  readonly portal: boolean
  /**
   * Folders of further views for the portal, each with an `index.js` that exports its `view`. The name of a folder is in
   * the view's address: `/views/NAME`.
   */
  readonly portalViews: readonly string[]
  /**
   * The file of trusted documents, of graphql-codegen, Apollo or Relay. Other documents are refused. Absent: all
   * documents may run.
   */
  readonly trustedDocuments?: string | undefined
  /** The maximum size of a request's body and of a WebSocket message. */
  readonly maxBodyBytes: number
  /** Answers from this size on are compressed if the client accepts it; 0 for none. */
  readonly compressFromBytes: number
  /** How long a request may take to arrive, headers and body. */
  readonly requestDeadlineMs: number
  /** How long a connection may be idle between two requests. */
  readonly keepAliveMs: number
  /** The maximum number of connections of all kinds. Further connections are closed at once. */
  readonly maxConnections: number
  /** How long a WebSocket may take to send `connection_init`. */
  readonly connectionInitDeadlineMs: number
  /** The maximum number of running operations per WebSocket. Further operations are answered with an error. */
  readonly maxOperationsPerSocket: number
  /** The interval of pings on a WebSocket. A WebSocket that misses two pings is cut off. */
  readonly pingIntervalMs: number
  /** How often the caller of a WebSocket is authenticated again. The WebSocket closes if that fails. */
  readonly reauthenticateMs: number
  /** A port for `/metrics` alone; 0 for any free port. Absent: none. */
  readonly metricsPort?: number | undefined
  /** The address of the metrics port. */
  readonly metricsHost: string
  /** Whether the port of the API serves `/metrics` too, without authentication. */
  readonly metricsOnApiPort: boolean
  /** How long to keep serving after SIGTERM, while `/readyz` answers 503, so that load balancers can move callers. */
  readonly drainDelayMs: number
  /**
   * The longest time over which the clients of WebSockets and event streams are then asked to reconnect, 500 in a
   * second if that takes no longer.
   */
  readonly drainSpreadMs: number
  /** How long a stop then waits for running requests. */
  readonly stopDeadlineMs: number
}

const milliseconds = z.int().min(1).max(3_600_000)

/** `http(s)://host[:port]` as browsers write it: without path, default port and capitals. */
export const webOrigin: z.ZodType<string> = z
  .string()
  .refine((text) => URL.canParse(text) && new URL(text).origin === text, {
    error: 'expected an origin such as https://portal.example.com, without a path',
  })

const hostName = z.string().regex(/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]+)?$/i, {
  error: 'expected a host name, with or without a port, and no scheme',
})

/** Browsers keep a session only over https, or on this machine. */
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'expected https://HOST, without a path', abort: true })
  .refine(
    (text) => {
      const { protocol, hostname, pathname, search } = new URL(text)
      const isSafe = protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
      return isSafe && pathname === '/' && search === ''
    },
    { error: 'expected https://HOST, without a path' },
  )

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/i, {
  error: 'expected the name of a header, without its value',
})

const viewFolder = z.string().regex(/(^|\/)[a-z0-9][a-z0-9-]*\/?$/, {
  error: 'expected a folder whose name has only lower-case letters, digits and hyphens',
})

/** Checks {@link ServerOptions} and sets their defaults. */
export const serverOptionsSchema: z.ZodType<ServerOptions> = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(4000),
  insecureNoAuth: z.boolean().default(false),
  tlsCert: z.string().min(1).optional(),
  tlsKey: z.string().min(1).optional(),
  tlsClientCa: z.string().min(1).optional(),
  publicUrl: publicUrl.optional(),
  allowedHosts: z.array(hostName).default([]),
  allowedOrigins: z.array(webOrigin).default([]),
  allowedHeaders: z.array(headerName).default([]),
  graphiql: z.boolean().optional(),
  portal: z.boolean().default(true),
  portalViews: z.array(viewFolder).default([]),
  trustedDocuments: z.string().min(1).optional(),
  maxBodyBytes: z.int().min(1024).max(16_777_216).default(131_072),
  compressFromBytes: z.int().min(0).max(1_073_741_824).default(32_768),
  requestDeadlineMs: milliseconds.default(30_000),
  keepAliveMs: milliseconds.default(60_000),
  maxConnections: z.int().min(1).max(1_000_000).default(10_000),
  connectionInitDeadlineMs: milliseconds.default(5_000),
  maxOperationsPerSocket: z.int().min(1).max(10_000).default(100),
  maxOperationsPerUser: z.int().min(1).max(100_000).default(100),
  maxSubscriptionsPerUser: z.int().min(1).max(1_000_000).default(1_000),
  maxSocketsPerUser: z.int().min(1).max(100_000).default(100),
  maxUnsentBytesPerUser: z
    .int()
    .min(65_536)
    .max(4_294_967_296)
    .default(besideHeap(1 / 6, 64 << 20)),
  maxUnsentBytes: z
    .int()
    .min(65_536)
    .max(17_179_869_184)
    .default(besideHeap(1 / 3, 256 << 20)),
  writeDeadlineMs: milliseconds.default(30_000),
  pingIntervalMs: milliseconds.default(15_000),
  reauthenticateMs: milliseconds.default(60_000),
  metricsPort: z.int().min(0).max(65_535).optional(),
  metricsHost: z.string().min(1).default('127.0.0.1'),
  metricsOnApiPort: z.boolean().default(false),
  drainDelayMs: z.int().min(0).max(3_600_000).default(0),
  drainSpreadMs: z.int().min(0).max(3_600_000).default(10_000),
  stopDeadlineMs: milliseconds.default(10_000),
})

/** The defaults of {@link ServerOptions}. Some follow from the memory of the process. */
export function defaultServerOptions(): ServerOptions {
  return serverOptionsSchema.parse({})
}

export const serverChecks: OptionChecks<ServerOptions> = {
  ...checksLike(defaultServerOptions()),
  tlsCert: aString,
  tlsKey: aString,
  tlsClientCa: aString,
  publicUrl: aString,
  graphiql: aFlag,
  trustedDocuments: aString,
  metricsPort: aLimit(),
}
