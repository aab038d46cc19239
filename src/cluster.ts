/** `informerql/cluster`: connections to clusters, found as kubectl finds them; sources of informers, reads and writes. */
import './lib/node-version.ts'
export {
  type ApiRequestOptions,
  type ApiServer,
  apiServerDefaults,
  type ApiServerLimits,
  type ApiServerOptions,
  createApiServer,
} from './api-server/api-server.ts'
export { MissingPackageError } from './api-server/kubeconfig/client-node.ts'
export type { Discovery } from './api-server/discovery/discovery.ts'
export type { ServerVersion } from './api-server/discovery/server-features.ts'
export {
  ClusterConfigError,
  type ClusterConfigErrorCode,
} from './api-server/kubeconfig/cluster-config.ts'
export type {
  ClusterConfig,
  ClusterEntry,
  ClusterSelection,
  UserEntry,
} from './api-server/kubeconfig/cluster-config.ts'
export { loadClusterConfig } from './api-server/kubeconfig/cluster-lookup.ts'
export { CredentialsError } from './api-server/kubeconfig/credentials.ts'
export { serverConfig } from './api-server/kubeconfig/cluster-config.ts'
export type { ApiServerObserver } from './api-server/transport/transport.ts'
export { ConnectionError, type ConnectionFailure } from './api-server/transport/connection-error.ts'
export { UnexpectedAnswerError } from './api-server/transport/json-request.ts'
export { dropFinalizer, ensureFinalizer } from './api-server/writes/finalizers.ts'
export {
  CutObjectError,
  ObjectClient,
  type ObjectClientOptions,
  type StatusClient,
  type SubresourceClients,
  type SubresourceCreation,
  type SubresourceName,
} from './api-server/writes/object-client.ts'
export {
  listDefaults,
  ListExpiredError,
  type ListObjectsOptions,
  type ObjectList,
  type ObjectPage,
} from './api-server/writes/object-list.ts'
export type {
  AppliedObject,
  DeepPartial,
  JsonPatchOperation,
  MergePatch,
  NewObject,
  ObjectPatch,
  PatchDirectives,
  StrategicPatch,
} from './api-server/writes/object-patch.ts'
export {
  retryDefaults,
  retryOnConflict,
  type RetryOptions,
} from './api-server/writes/retry-on-conflict.ts'
export type {
  ApplyOptions,
  ChangeOptions,
  DeleteOptions,
  ObjectName,
  Preconditions,
  ReadOptions,
  WriteOptions,
} from './api-server/writes/write-options.ts'
export {
  ApiStatusError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isNotFound,
  type Status,
} from './kubernetes/status.ts'
