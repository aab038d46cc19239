const versionName = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/

/** Orders versions by priority: stable before beta before alpha, newer before older, other names last and by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)]
  const at = left.findIndex((part, index) => part !== right[index])
  return at < 0 ? a.localeCompare(b) : (right[at] ?? 0) - (left[at] ?? 0)
}

function rankOf(version: string): readonly number[] {
  const [, major, stage, minor = 0] = versionName.exec(version) ?? []
  if (major === undefined) return [0, 0, 0]
  return [stage === undefined ? 3 : stage === 'beta' ? 2 : 1, Number(major), Number(minor)]
}
