/**
 * Peer: client-go's informer, a program of its own, which prints the figures. Arguments: the kubeconfig's path, how the
 * bytes on the wire are encoded, how long updates are measured in milliseconds (0: the sync instead), the program's path.
 */
import { spawnSync } from 'node:child_process'

const [kubeconfig = '', encoding = '', durationMs = '0', program = ''] = process.argv.slice(2)
const { status } = spawnSync(
  program,
  ['-kubeconfig', kubeconfig, '-encoding', encoding, '-events', `${durationMs}ms`],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
process.exitCode = status ?? 1
