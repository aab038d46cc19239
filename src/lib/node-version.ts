/** The same version as in `engines` of package.json. */
const least = [22, 19] as const

/** Every entrance imports this file first, so that an old Node reports its version instead of failing elsewhere. */
const { process: running } = globalThis as {
  readonly process?: { readonly versions?: { readonly node?: string } }
}
const found = running?.versions?.node
const [major = 0, minor = 0] = (found ?? '').split('.').map(Number)
if (found !== undefined && (major < least[0] || (major === least[0] && minor < least[1]))) {
  throw new Error(`informerql needs Node ${least.join('.')} or later; this is Node ${found}`)
}
