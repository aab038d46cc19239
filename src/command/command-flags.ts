import { type Command, Option } from 'commander'
import type { FlagOption } from '../config/config.ts'

/** A command-line flag that sets one option. */
export interface Flag {
  readonly flags: string
  readonly description: string
  readonly path: readonly string[]
  /** Repeated flags make a list. */
  readonly repeated?: true
}

const serverFlags: readonly Flag[] = [
  {
    flags: '--port <port>',
    description: 'port of the API; 0 for any free port',
    path: ['server', 'port'],
  },
  { flags: '--host <address>', description: 'address to listen on', path: ['server', 'host'] },
  {
    flags: '--insecure-no-auth',
    description:
      'allow an address beyond loopback without authentication; every client that reaches it may read everything',
    path: ['server', 'insecureNoAuth'],
  },
  {
    flags: '--tls-cert <file>',
    description: 'certificate of the server, PEM; read again when it changes',
    path: ['server', 'tlsCert'],
  },
  { flags: '--tls-key <file>', description: 'its key, PEM', path: ['server', 'tlsKey'] },
  {
    flags: '--tls-client-ca <file>',
    description: 'CA of trusted client certificates, for --auth request-header',
    path: ['server', 'tlsClientCa'],
  },
  {
    flags: '--allowed-host <name>',
    description: 'further name of the gateway in the Host header (repeatable)',
    path: ['server', 'allowedHosts'],
    repeated: true,
  },
  {
    flags: '--allowed-origin <origin>',
    description: 'origin of web pages that may send operations (repeatable)',
    path: ['server', 'allowedOrigins'],
    repeated: true,
  },
  {
    flags: '--graphiql',
    description: 'serve GraphiQL also beyond loopback',
    path: ['server', 'graphiql'],
  },
  { flags: '--no-graphiql', description: 'serve no GraphiQL', path: ['server', 'graphiql'] },
  {
    flags: '--introspection',
    description: 'allow introspection also beyond loopback and with authentication',
    path: ['introspection'],
  },
  { flags: '--no-introspection', description: 'refuse introspection', path: ['introspection'] },
  {
    flags: '--trusted-documents <file>',
    description:
      'run only the documents of this file, as graphql-codegen, Apollo or Relay write it',
    path: ['server', 'trustedDocuments'],
  },
]

const authFlags: readonly Flag[] = [
  {
    flags: '--auth <mode>',
    description:
      'how callers are authenticated: none, token-review, oidc or request-header; its options are in the configuration',
    path: ['auth', 'mode'],
  },
  {
    flags: '--auth-audience <name>',
    description: 'required audience of tokens (repeatable)',
    path: ['auth', 'audiences'],
    repeated: true,
  },
]

const observationFlags: readonly Flag[] = [
  {
    flags: '--audit-file <file>',
    description: 'file of the audit log; - for the standard output',
    path: ['audit', 'file'],
  },
  {
    flags: '--metrics-port <port>',
    description: 'port of /metrics, on loopback unless server.metricsHost says otherwise',
    path: ['server', 'metricsPort'],
  },
]

const schemaFlags: readonly Flag[] = [
  {
    flags: '--schema <directory>',
    description:
      'directory of SDL with further indexes and relations; edits are served while it runs',
    path: ['schema'],
  },
  {
    flags: '--schema-file <file>',
    description: 'SDL with further indexes and relations (repeatable)',
    path: ['schemaFiles'],
    repeated: true,
  },
  {
    flags: '--infer-references',
    description: 'make relations of fields of custom kinds with names in ...Ref',
    path: ['inferReferences'],
  },
  {
    flags: '--relay',
    description: 'support refetching by relay-compiler: fetch__Pod(id:)',
    path: ['relay'],
  },
  {
    flags: '--secret-data',
    description: 'add data and type to Secrets, read live with the bearer token of the caller',
    path: ['secretData'],
  },
]

const informerFlags: readonly Flag[] = [
  {
    flags: '--preload <kind>',
    description: 'kind to load at start, by its list field: pods (repeatable)',
    path: ['preload'],
    repeated: true,
  },
]

const simulatorFlags: readonly Flag[] = [
  {
    flags: '--scenario <directory>',
    description: 'directory of a scenario; default: the company that comes with the package',
    path: ['simulator', 'scenario'],
  },
  {
    flags: '--pods <count>',
    description: 'number of simulated pods',
    path: ['simulator', 'pods'],
  },
  {
    flags: '--seed <text>',
    description: 'the same seed makes the same cluster',
    path: ['simulator', 'seed'],
  },
  {
    flags: '--rate <writes>',
    description: 'changes per second; 0 for none',
    path: ['simulator', 'eventsPerSecond'],
  },
]

const logFlags: readonly Flag[] = [
  {
    flags: '--log-level <level>',
    description: 'debug, info, warn, error or silent',
    path: ['logLevel'],
  },
]

/** The flags of each command that set options. */
export const commandFlags: Readonly<
  Record<'serve' | 'demo' | 'simulate' | 'schema', readonly Flag[]>
> = {
  serve: [
    ...serverFlags,
    ...authFlags,
    ...observationFlags,
    ...informerFlags,
    ...schemaFlags,
    ...logFlags,
  ],
  demo: [...serverFlags, ...simulatorFlags, ...informerFlags, ...schemaFlags, ...logFlags],
  simulate: [...simulatorFlags, ...logFlags],
  schema: [...schemaFlags, ...logFlags],
}

/** Declares flags. {@link givenFlags} reads their values. */
export function addFlags(command: Command, flags: readonly Flag[]): Command {
  for (const flag of flags) {
    const option = new Option(flag.flags, flag.description)
    if (flag.repeated === true) option.argParser(append)
    command.addOption(option)
  }
  return command
}

/** Collects the values of a repeatable flag. */
export function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** The options that flags set. */
export function givenFlags(command: Command, flags: readonly Flag[]): readonly FlagOption[] {
  return flags.flatMap(({ flags: syntax, path }) => {
    const option = new Option(syntax)
    const value: unknown = command.getOptionValue(option.attributeName())
    // `--graphiql` and `--no-graphiql` set the same option; only the given flag counts.
    if (value === undefined || (option.negate ? value !== false : value === false)) return []
    return [
      { flag: option.long ?? syntax, path, value: isTextOption(path) ? value : numberOf(value) },
    ]
  })
}

function isTextOption(path: readonly string[]): boolean {
  return ['seed', 'host', 'scenario'].includes(path.at(-1) ?? '')
}

/** Converts numbers. Leaves other values for the check of the option. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?[0-9]+(\.[0-9]+)?$/.test(value) ? Number(value) : value
}
