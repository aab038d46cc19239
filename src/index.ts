/** `informerql`: the gateway as a library. */
import './lib/node-version.ts'
export { createGateway, type Gateway, type GatewayOptions } from './gateway/gateway.ts'
export type {
  CacheListArguments,
  CacheLookup,
  ExtensionCache,
  ExtensionContext,
  ExtensionNeeds,
  ExtensionProblem,
  ExtensionResolvers,
  FieldResolver,
  GatewayExtension,
  KindCache,
  SubscriptionResolver,
} from './graphql/extensions/extension.ts'
export { ExtensionError } from './graphql/extensions/extension.ts'
export type { ExtensionFieldInfo } from './graphql/schema/field-source.ts'
export type { ExecuteRequest, RequestCaller, SubscriptionResults } from './gateway/in-process.ts'
export { IndexFunctionError, type IndexFunctions } from './graphql/model/declared-indexes.ts'
export {
  type AuthenticationOptions,
  defaultAuthenticationOptions,
} from './access/authentication/authentication-options.ts'
export {
  type Authenticated,
  type Authenticator,
  type ClientCertificate,
  type CredentialProblem,
  type Credentials,
  IdentityUnavailableError,
  UnauthenticatedError,
} from './access/authentication/authenticator.ts'
export { type CallerToken, type SignInReport } from './access/authentication/authenticator.ts'
export { type Viewer } from './access/viewer.ts'
export { GatewayMetrics } from './gateway/metrics/gateway-metrics.ts'
export { GatewayTraces } from './gateway/traces.ts'
export {
  documentHash,
  type OperationObserver,
  type OperationReport,
  type WriteReport,
} from './graphql/answer/operation-observer.ts'
export { type ServerObserver, type ServerRefusal } from './server/operation-options.ts'
export { type GatewayLog } from './gateway/observers.ts'
export { NoClusterError } from './gateway/fleet.ts'
export { type CacheLimits } from './cache/cache-bounds.ts'
export {
  type GraphQLServer,
  type GraphQLServerOptions,
  startGraphQLServer,
} from './server/graphql-server.ts'
export type {
  MakeContext,
  OperationContext,
  OperationOrigin,
  ServerPlugin,
} from './server/operation-options.ts'
export { portalFolder } from './server/http/portal-files.ts'
export {
  type ExecEndReport,
  type ExecLimits,
  type ExecOpening,
  type ExecOptions,
  type ExecReport,
  type ExecServing,
  type ExecTarget,
  type PodShells,
} from './server/exec/exec-options.ts'
export { defaultServerOptions, type ServerOptions } from './server/server-options.ts'
export { type WorkLimits } from './query/condition/work-budget.ts'
export { type OperationLimits } from './graphql/served/served-schema.ts'
export type { LogLimits } from './graphql/logs/log-limits.ts'
export type { LoggedObject } from './graphql/logs/log-request.ts'
export { type WriteLimits } from './graphql/writes/write-limits.ts'
export {
  checkDocuments,
  type ClientDocument,
  type DocumentBreak,
  type DocumentCheck,
  DocumentCheckError,
} from './graphql/documents/document-breaks.ts'
export { CodedError } from './lib/coded-error.ts'
