import { parse } from 'yaml'
import { type GivenOption, givenSource, type OptionSource } from './option-source.ts'

/** An option that an environment variable or a flag can set. */
export interface NamedOption {
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
  options: readonly NamedOption[],
  variables: Readonly<Record<string, string | undefined>>,
): OptionSource & { readonly unknown: readonly string[] } {
  const byName = new Map(options.map((option) => [variableNameOf(prefix, option.path), option]))
  const given: GivenOption[] = []
  const unknown: string[] = []
  for (const [name, text] of Object.entries(variables)) {
    if (!name.startsWith(prefix) || text === undefined || text === '') continue
    if (isServiceLink(name, text)) continue
    const option = byName.get(name)
    if (option === undefined) unknown.push(name)
    else given.push({ path: option.path, value: valueOf(text, option.type), place: name })
  }
  return { ...givenSource(given), unknown }
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

function valueOf(text: string, type: NamedOption['type']): unknown {
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
