import { type ApiServer, createApiServer, loadClusterConfig } from 'informerql/cluster'
import type { ContractServer } from '../contract/contract-server.ts'
import { writeKubeconfig } from './kubeconfig.ts'

/** A connection to a server under the contract, as the user that its headers name. */
export async function openApiServer(server: ContractServer): Promise<ApiServer> {
  await using kubeconfig = await writeKubeconfig(server)
  return createApiServer({ config: loadClusterConfig({ kubeconfig: kubeconfig.path }) })
}
