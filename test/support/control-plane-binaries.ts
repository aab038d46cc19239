import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where the real servers are, or why there are none and what to do about it. */
export type FoundControlPlane = { readonly binDir: string } | { readonly missing: string }

const binaries = ['etcd', 'kube-apiserver']
const controllers = 'kube-controller-manager'
const execKubelet = 'exec-kubelet'

/** What `test/cluster/build.sh` fills. */
const cacheDir: string = join(import.meta.dirname, '../../.cache/cluster/bin')

const lacksOf = (dir: string, wanted: readonly string[]): readonly string[] =>
  wanted.filter((name) => !existsSync(join(dir, name)))

const search = (wanted: readonly string[]): FoundControlPlane => {
  const assets = process.env['KUBEBUILDER_ASSETS']
  if (assets !== undefined && assets !== '') {
    const lacks = lacksOf(assets, wanted)
    if (lacks.length === 0) return { binDir: assets }
    return { missing: `KUBEBUILDER_ASSETS (${assets}) holds no ${lacks.join(' and no ')}` }
  }
  if (lacksOf(cacheDir, wanted).length === 0) return { binDir: cacheDir }
  return {
    missing: `run test/cluster/build.sh (needs Go, some minutes once), or set KUBEBUILDER_ASSETS to a folder with ${wanted.join(' and ')}`,
  }
}

/**
 * Looks for a genuine kube-apiserver and etcd: in the folder that `KUBEBUILDER_ASSETS` names (the convention of
 * controller-runtime's envtest), else among the binaries that `test/cluster/build.sh` built. A `KUBEBUILDER_ASSETS`
 * without them is reported, not passed over. Throws when they are missing and `REQUIRE_REAL_CLUSTER=1` asks for them.
 * With `controllers`, kube-controller-manager has to be there, too; with `execKubelet`, what serves exec in place of a kubelet.
 */
export const findControlPlane = (
  options: { readonly controllers?: boolean; readonly execKubelet?: boolean } = {},
): FoundControlPlane => {
  const found = search([
    ...binaries,
    ...(options.controllers === true ? [controllers] : []),
    ...(options.execKubelet === true ? [execKubelet] : []),
  ])
  if ('missing' in found && process.env['REQUIRE_REAL_CLUSTER'] === '1') {
    throw new Error(`REQUIRE_REAL_CLUSTER=1, but there is no real control plane: ${found.missing}`)
  }
  return found
}
