import { capturedResources } from '../../schema/captured-cluster.ts'
import { apiVersionOf } from '../../schema/captured-cluster.ts'

/** A kind as objects name it. */
export interface FieldKind {
  readonly apiVersion: string
  readonly kind: string
  readonly namespaced: boolean
}

/** The types of custom kinds by group and version, each after the prefix of its group; those with a star live in no namespace. */
const customTypes: Readonly<Record<string, readonly [prefix: string, kinds: string]>> = {
  'argoproj.io/v1alpha1': [
    'Argo',
    'Application AppProject ApplicationSet Rollout Workflow CronWorkflow WorkflowTemplate',
  ],
  'autoscaling.k8s.io/v1': ['AutoscalingK8sIo', 'VerticalPodAutoscaler'],
  'cert-manager.io/v1': ['CertManager', 'Certificate CertificateRequest Issuer ClusterIssuer*'],
  'acme.cert-manager.io/v1': ['CertManagerAcme', 'Order Challenge'],
  'cluster.x-k8s.io/v1beta1': [
    'ClusterApi',
    'Cluster Machine MachineSet MachineDeployment MachineHealthCheck',
  ],
  'apiextensions.crossplane.io/v1': ['Crossplane', 'Composition* CompositionRevision*'],
  'pkg.crossplane.io/v1': ['CrossplanePkg', 'Provider* ProviderRevision*'],
  'external-secrets.io/v1': [
    'ExternalSecrets',
    'ExternalSecret SecretStore ClusterSecretStore* ClusterExternalSecret*',
  ],
  'external-secrets.io/v1alpha1': ['ExternalSecrets', 'PushSecret'],
  'gateway.networking.k8s.io/v1': [
    '',
    'Gateway GatewayClass* HTTPRoute GRPCRoute TLSRoute TCPRoute UDPRoute',
  ],
  'karpenter.sh/v1': ['Karpenter', 'NodeClaim* NodePool*'],
  'keda.sh/v1alpha1': ['Keda', 'ScaledObject ScaledJob TriggerAuthentication'],
  'kyverno.io/v1': ['Kyverno', 'ClusterPolicy* Policy'],
  'kyverno.io/v2': ['Kyverno', 'PolicyException'],
  'metallb.io/v1beta1': ['MetallbIo', 'IPAddressPool L2Advertisement BGPAdvertisement BFDProfile'],
  'metallb.io/v1beta2': ['MetallbIo', 'BGPPeer'],
  'projectcontour.io/v1': ['ProjectcontourIo', 'HTTPProxy TLSCertificateDelegation'],
  'projectcontour.io/v1alpha1': ['ProjectcontourIo', 'ExtensionService'],
  'metrics.k8s.io/v1beta1': ['', 'PodMetrics NodeMetrics*'],
  'monitoring.coreos.com/v1': [
    'Monitoring',
    'ServiceMonitor PodMonitor Probe PrometheusRule Prometheus ThanosRuler Alertmanager',
  ],
  'monitoring.coreos.com/v1alpha1': [
    'Monitoring',
    'ScrapeConfig PrometheusAgent AlertmanagerConfig',
  ],
  'snapshot.storage.k8s.io/v1': ['', 'VolumeSnapshot VolumeSnapshotContent* VolumeSnapshotClass*'],
  'kustomize.toolkit.fluxcd.io/v1': ['FluxKustomize', 'Kustomization'],
  'helm.toolkit.fluxcd.io/v2': ['FluxHelm', 'HelmRelease'],
  'source.toolkit.fluxcd.io/v1': [
    'FluxSource',
    'GitRepository OCIRepository Bucket HelmRepository HelmChart',
  ],
  // A claim and a composite as Crossplane's users define them, and a kind that nobody knows.
  'rel.example/v1': ['RelExample', 'Bucketclaim Xbucket* Thing'],
}

/** Types that are called otherwise than prefix and kind. */
const renamed: Readonly<Record<string, string>> = { CertManagerAcmeOrder: 'CertManagerAcmeOrder_' }

interface CustomKind extends FieldKind {
  readonly type: string
}

const customKinds: readonly CustomKind[] = Object.entries(customTypes).flatMap(
  ([apiVersion, [prefix, kinds]]) =>
    kinds.split(' ').map((text) => {
      const kind = text.replace('*', '')
      const type = renamed[`${prefix}${kind}`] ?? `${prefix}${kind}`
      return { type, apiVersion, kind, namespaced: !text.endsWith('*') }
    }),
)

/** The definitions of all custom kinds, as `RelationCluster.define` takes them. */
export const fieldDefinitions: readonly string[] = customKinds.map(
  ({ kind, apiVersion, namespaced }) => `${kind}.${apiVersion}${namespaced ? '' : '*'}`,
)

/** The categories of definitions, by kind. */
export const fieldCategories: Readonly<Record<string, string>> = {
  Bucketclaim: 'claim',
  Xbucket: 'composite',
}

/** Kinds that the server has in several versions or groups. */
const chosenVersions: Readonly<Record<string, string>> = {
  Event: 'v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
}

/** The kind of a type of the schema. */
export function kindOfType(type: string): FieldKind {
  const custom = customKinds.find((one) => one.type === type)
  if (custom !== undefined) return custom
  const found = capturedResources.find(
    (one) =>
      one.kind === type &&
      (chosenVersions[type] === undefined || chosenVersions[type] === apiVersionOf(one)),
  )
  if (found === undefined) throw new Error(`no kind of the type ${type}`)
  return { apiVersion: apiVersionOf(found), kind: found.kind, namespaced: found.namespaced }
}
