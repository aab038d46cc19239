/** What `/version` says. */
export interface ServerVersion {
  readonly major: number
  readonly minor: number
  /** `v1.36.3`, with whatever the distribution appends. */
  readonly gitVersion: string
}

/** Reads `/version`; `undefined` where it is none. Some clouds write `28+` as the minor version, some leave it empty. */
export function readServerVersion(answer: unknown): ServerVersion | undefined {
  const { major, minor, gitVersion } = (answer ?? {}) as Readonly<Record<string, unknown>>
  if (typeof gitVersion !== 'string') return undefined
  const [, gitMajor, gitMinor] = /^v?(\d+)\.(\d+)/.exec(gitVersion) ?? []
  const majorNumber = leadingNumber(major) ?? leadingNumber(gitMajor)
  const minorNumber = leadingNumber(minor) ?? leadingNumber(gitMinor)
  if (majorNumber === undefined || minorNumber === undefined) return undefined
  return { major: majorNumber, minor: minorNumber, gitVersion }
}

/** Whether the server is of this version or a later one. */
export function atLeast(version: ServerVersion, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor)
}

function leadingNumber(text: unknown): number | undefined {
  const digits = typeof text === 'string' ? /^\d+/.exec(text)?.[0] : undefined
  return digits === undefined ? undefined : Number(digits)
}
