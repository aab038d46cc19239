import { quoted, tokensOf } from '../kinds/filter-text.ts'

/** What the user has made of the logs of an object: `container:web level:error since:15m contains:"timed out"` in an address. */
export interface LogsView {
  readonly container: string
  readonly previous: boolean
  readonly contains: string
  /** Lines of this level or worse; empty: all. */
  readonly level: '' | 'error' | 'warn' | 'info'
  /** A span before now; empty: the last lines. */
  readonly since: string
  readonly wrap: boolean
  /** Whether lines of JSON have a column for each of their fields. */
  readonly columns: boolean
}

export const levelChoices = ['', 'error', 'warn', 'info'] as const
export const sinceChoices = ['', '5m', '15m', '1h', '6h', '24h'] as const

const usual: LogsView = {
  container: '',
  previous: false,
  contains: '',
  level: '',
  since: '',
  wrap: true,
  columns: false,
}

/** Reads the text of an address. What it does not name is as usual. */
export function logsViewOf(text = ''): LogsView {
  const given = new Map(tokensOf(text).map(({ name = '', value }) => [name, plain(value)]))
  const flag = (name: string, otherwise: boolean): boolean =>
    given.has(name) ? given.get(name) === 'yes' : otherwise
  return {
    container: given.get('container') ?? '',
    previous: flag('previous', usual.previous),
    contains: given.get('contains') ?? '',
    level: levelChoices.find((level) => level === given.get('level')) ?? '',
    since: sinceChoices.find((since) => since === given.get('since')) ?? '',
    wrap: flag('wrap', usual.wrap),
    columns: flag('columns', usual.columns),
  }
}

/** The text for an address; `undefined` where all is as usual. */
export function textOfLogsView(view: LogsView): string | undefined {
  const parts = Object.entries(view).flatMap(([name, value]: [string, string | boolean]) =>
    value === usual[name as keyof LogsView]
      ? []
      : [`${name}:${typeof value === 'string' ? quoted(value) : value ? 'yes' : 'no'}`],
  )
  return parts.length === 0 ? undefined : parts.join(' ')
}

function plain(value: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"?$/su.exec(value) ?? []
  return inner === undefined ? value : inner.replaceAll(/\\(.)/gsu, '$1')
}
