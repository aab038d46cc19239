import { parse } from 'yaml'
import type { OptionSource } from './option-source.ts'

/** An option that an environment variable can set. */
export interface VariableOption {
  /** `['server', 'maxBodyBytes']`, whose variable is `PREFIX_SERVER_MAX_BODY_BYTES`. */
  readonly path: readonly string[]
  /** Text is used as it is, a list may be separated by commas, and other values are YAML. */
  readonly type: 'text' | 'list' | 'other'
}

/**
 * Reads options from environment variables with a prefix that ends in `_`. `unknown` has the variables that name no
 * option.
 */
export function variableSource(
  prefix: string,
  options: readonly VariableOption[],
  variables: Readonly<Record<string, string | undefined>>,
): OptionSource & { readonly unknown: readonly string[] } {
  const byName = new Map(options.map((option) => [variableNameOf(prefix, option.path), option]))
  const values: Record<string, unknown> = {}
  const places = new Map<string, string>()
  const unknown: string[] = []
  for (const [name, text] of Object.entries(variables)) {
    if (!name.startsWith(prefix) || text === undefined || text === '') continue
    if (isServiceLink(name, text)) continue
    const option = byName.get(name)
    if (option === undefined) {
      unknown.push(name)
      continue
    }
    put(values, option.path, valueOf(text, option.type))
    places.set(option.path.join('.'), name)
  }
  return {
    values,
    unknown,
    placeOf: (path) => {
      const names = path.map(String)
      const at = names.findIndex((_, end) => places.has(names.slice(0, end + 1).join('.')))
      return at === -1 ? undefined : places.get(names.slice(0, at + 1).join('.'))
    },
  }
}

/** The variable of an option: `PREFIX_SERVER_MAX_BODY_BYTES`. */
export function variableNameOf(prefix: string, path: readonly string[]): string {
  const words = path.map((name) => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase())
  return prefix + words.join('_')
}

/** Whether a variable is a service link, which Kubernetes adds to pods: `X_PORT=tcp://10.0.0.1:80`. */
function isServiceLink(name: string, text: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
    /_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))
  )
}

function valueOf(text: string, type: VariableOption['type']): unknown {
  if (type === 'text') return text
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return text
  }
  return type === 'list' && typeof value !== 'object'
    ? text.split(',').map((part) => part.trim())
    : value
}

function put(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = values
  for (const name of path.slice(0, -1)) {
    at[name] ??= {}
    at = at[name] as Record<string, unknown>
  }
  const last = path.at(-1)
  if (last !== undefined) at[last] = value
}
