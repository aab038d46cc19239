import { CodedError, type ErrorDetails } from '../../lib/coded-error.ts'

/** What can be wrong with the configuration of a cluster. */
export type ClusterConfigErrorCode =
  | 'CLUSTER_NOT_FOUND'
  | 'KUBECONFIG_MISSING'
  | 'KUBECONFIG_UNREADABLE'
  | 'KUBECONFIG_INVALID'
  | 'CONTEXT_UNKNOWN'
  | 'CONTEXT_UNSET'
  | 'CLUSTER_UNKNOWN'
  | 'USER_UNKNOWN'
  | 'SERVER_INVALID'
  | 'PROXY_INVALID'
  | 'CREDENTIAL_FILE_UNREADABLE'
  | 'CERTIFICATE_INVALID'
  | 'CLIENT_CERTIFICATE_EXPIRED'
  | 'CLIENT_CERTIFICATE_NOT_YET_VALID'

/** A cluster that cannot be used as it is configured. */
export class ClusterConfigError extends CodedError {
  // oxlint-disable-next-line no-useless-constructor -- narrows the codes
  constructor(code: ClusterConfigErrorCode, message: string, details?: ErrorDetails) {
    super(code, message, details)
  }
}
