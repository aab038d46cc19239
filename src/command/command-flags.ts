import { type Command, Option } from 'commander'
import type { FlagOption } from '../config/config.ts'

/** A flag of the command line that gives one option of the configuration. */
export interface Flag {
  readonly flags: string
  readonly description: string
  readonly path: readonly string[]
  /** Given more than once, it makes a list. */
  readonly repeated?: true
}

const serverFlags: readonly Flag[] = [
  {
    flags: '--port <port>',
    description: 'port of the API; 0: any free one',
    path: ['server', 'port'],
  },
  { flags: '--host <address>', description: 'address to listen on', path: ['server', 'host'] },
  {
    flags: '--insecure-no-auth',
    description:
      'allow an address beyond loopback, although everybody who reaches it may read everything',
    path: ['server', 'insecureNoAuth'],
  },
  {
    flags: '--tls-cert <file>',
    description: 'certificate to serve with, PEM; read again when it changes',
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
    description: 'origin of web pages that may ask (repeatable)',
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
    description: 'tell the schema also beyond loopback, and to those who are asked who they are',
    path: ['introspection'],
  },
  { flags: '--no-introspection', description: 'tell nobody the schema', path: ['introspection'] },
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
      'how callers are asked who they are: none, token-review, oidc or request-header; its options are in the configuration',
    path: ['auth', 'mode'],
  },
  {
    flags: '--auth-audience <name>',
    description: 'what tokens have to be for (repeatable)',
    path: ['auth', 'audiences'],
    repeated: true,
  },
]

const observationFlags: readonly Flag[] = [
  {
    flags: '--audit-file <file>',
    description: 'file to write down in who has asked for what; -: the standard output',
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
    description: 'directory of SDL with further indexes and relations, followed while it runs',
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
    description: 'make relations of the fields of custom kinds that are called ...Ref',
    path: ['inferReferences'],
  },
  {
    flags: '--relay',
    description: 'add what relay-compiler needs to fetch objects again: fetch__Pod(id:)',
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
    description: 'kind to load at start, as its list field is called: pods (repeatable)',
    path: ['preload'],
    repeated: true,
  },
]

const simulatorFlags: readonly Flag[] = [
  {
    flags: '--scenario <directory>',
    description: 'what is simulated, instead of the company that comes with the package',
    path: ['simulator', 'scenario'],
  },
  {
    flags: '--pods <count>',
    description: 'how many pods are simulated',
    path: ['simulator', 'pods'],
  },
  {
    flags: '--seed <text>',
    description: 'the same seed makes the same cluster',
    path: ['simulator', 'seed'],
  },
  {
    flags: '--rate <writes>',
    description: 'changes per second; 0: none',
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

/** The flags of each command that give options of the configuration. */
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

/** Declares flags; what they give is read by {@link givenFlags}. */
export function addFlags(command: Command, flags: readonly Flag[]): Command {
  for (const flag of flags) {
    const option = new Option(flag.flags, flag.description)
    if (flag.repeated === true) option.argParser(append)
    command.addOption(option)
  }
  return command
}

/** Collects the values of a flag that may be repeated. */
export function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** The options that were given by flags. */
export function givenFlags(command: Command, flags: readonly Flag[]): readonly FlagOption[] {
  return flags.flatMap(({ flags: syntax, path }) => {
    const option = new Option(syntax)
    const value: unknown = command.getOptionValue(option.attributeName())
    // `--graphiql` and `--no-graphiql` give one option; it is told by the one that was written.
    if (value === undefined || (option.negate ? value !== false : value === false)) return []
    return [
      { flag: option.long ?? syntax, path, value: isTextOption(path) ? value : numberOf(value) },
    ]
  })
}

function isTextOption(path: readonly string[]): boolean {
  return ['seed', 'host', 'scenario'].includes(path.at(-1) ?? '')
}

/** A number where it is one; else as it was, for the check of the option to say what is wrong. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?[0-9]+(\.[0-9]+)?$/.test(value) ? Number(value) : value
}
