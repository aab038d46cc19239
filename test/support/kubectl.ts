import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** kubectl on this machine, or why there is none. */
export type FoundKubectl =
  | { readonly path: string; readonly minor: number }
  | { readonly missing: string }

/** Looks in the folder that `KUBEBUILDER_ASSETS` names (envtest keeps kubectl there), else on the path. */
export function findKubectl(): FoundKubectl {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? ''
  const kept = join(assets, 'kubectl')
  const path = assets !== '' && existsSync(kept) ? kept : 'kubectl'
  try {
    const text = execFileSync(path, ['version', '--client', '--output', 'json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const { clientVersion } = JSON.parse(text) as { clientVersion: { minor: string } }
    return { path, minor: Number.parseInt(clientVersion.minor, 10) }
  } catch (error) {
    return { missing: `there is no kubectl: ${String(error)}` }
  }
}

const run = promisify(execFile)

/** The output of a kubectl command. */
export async function kubectl(
  path: string,
  kubeconfig: string,
  args: readonly string[],
): Promise<string> {
  const { stdout } = await run(path, ['--kubeconfig', kubeconfig, ...args], { timeout: 60_000 })
  return stdout
}
