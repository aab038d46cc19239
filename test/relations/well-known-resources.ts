import type { ApiResource } from 'informerql/kubernetes'
import { resourceOf } from '../schema/captured-cluster.ts'
import { customKinds } from './custom-rows.ts'

/** Kinds of well-known CRDs that the rows do not need. */
const furtherKinds: readonly string[] = [
  'GRPCRoute.gateway.networking.k8s.io/v1',
  'TLSRoute.gateway.networking.k8s.io/v1',
  'TCPRoute.gateway.networking.k8s.io/v1',
  'UDPRoute.gateway.networking.k8s.io/v1',
  'CertificateRequest.cert-manager.io/v1',
  'Order.acme.cert-manager.io/v1',
  'Challenge.acme.cert-manager.io/v1',
  'ApplicationSet.argoproj.io/v1alpha1',
  'Workflow.argoproj.io/v1alpha1',
  'CronWorkflow.argoproj.io/v1alpha1',
  'WorkflowTemplate.argoproj.io/v1alpha1',
  'OCIRepository.source.toolkit.fluxcd.io/v1',
  'Bucket.source.toolkit.fluxcd.io/v1',
  'HelmRepository.source.toolkit.fluxcd.io/v1',
  'Composition.apiextensions.crossplane.io/v1*',
  'CompositionRevision.apiextensions.crossplane.io/v1*',
  'Provider.pkg.crossplane.io/v1*',
  'ProviderRevision.pkg.crossplane.io/v1*',
  'MachineSet.cluster.x-k8s.io/v1beta1',
  'MachineDeployment.cluster.x-k8s.io/v1beta1',
  'MachineHealthCheck.cluster.x-k8s.io/v1beta1',
  'Prometheus.monitoring.coreos.com/v1',
  'Alertmanager.monitoring.coreos.com/v1',
  'AlertmanagerConfig.monitoring.coreos.com/v1alpha1',
  'PrometheusAgent.monitoring.coreos.com/v1alpha1',
  'PrometheusRule.monitoring.coreos.com/v1',
  'Probe.monitoring.coreos.com/v1',
  'ScrapeConfig.monitoring.coreos.com/v1alpha1',
  'ThanosRuler.monitoring.coreos.com/v1',
  'VolumeSnapshotClass.snapshot.storage.k8s.io/v1*',
  'ClusterExternalSecret.external-secrets.io/v1*',
  'PushSecret.external-secrets.io/v1alpha1',
  'ScaledJob.keda.sh/v1alpha1',
  'ClusterPolicy.kyverno.io/v1*',
  'Policy.kyverno.io/v1',
  'PolicyException.kyverno.io/v2',
  'IPAddressPool.metallb.io/v1beta1',
  'L2Advertisement.metallb.io/v1beta1',
  'BGPAdvertisement.metallb.io/v1beta1',
  'BFDProfile.metallb.io/v1beta1',
  'BGPPeer.metallb.io/v1beta2',
  'HTTPProxy.projectcontour.io/v1',
  'TLSCertificateDelegation.projectcontour.io/v1',
  'ExtensionService.projectcontour.io/v1alpha1',
  'HelmChart.source.toolkit.fluxcd.io/v1',
  'TriggerAuthentication.keda.sh/v1alpha1',
  'PodMetrics.metrics.k8s.io/v1beta1',
  'NodeMetrics.metrics.k8s.io/v1beta1*',
]

/** The kinds of the CRDs that the package has relations for, as their API servers tell of them. */
export const wellKnownResources: readonly ApiResource[] = [...customKinds, ...furtherKinds]
  .filter((text) => !text.includes('rel.example'))
  .map((text) => {
    const [name = '', version = ''] = text.replace('*', '').split('/')
    const [kind = '', ...labels] = name.split('.')
    const lower = kind.toLowerCase()
    const plural = lower
      .replace(/(?<![aeou])y$/, 'ie')
      .replace(/s$/, 'se')
      .concat('s')
    const namespaced = !text.endsWith('*')
    return resourceOf(labels.join('.'), kind, { version, resource: plural, namespaced })
  })
