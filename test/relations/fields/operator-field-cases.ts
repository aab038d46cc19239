import { link, objectReference, reference } from './link.ts'
import { chain, owner } from './owner-links.ts'
import { selection } from './selection-links.ts'
import type { FieldCase, Form } from './field-case.ts'
import { all, at } from './form.ts'

const argo: readonly FieldCase[] = [
  reference('ArgoApplication.appProject', 'ArgoAppProject.applications', 'spec.project'),
  owner('ArgoApplication.applicationSet', 'ArgoApplicationSet.applications'),
  owner('ArgoWorkflow.cronWorkflow', 'ArgoCronWorkflow.workflows'),
  reference(
    'ArgoWorkflow.workflowTemplate',
    'ArgoWorkflowTemplate.workflows',
    'spec.workflowTemplateRef.name',
  ),
  link('ArgoApplication.resources', 'ConfigMap.*argoApplications', {
    meant: [
      at('status.resources[*]', {
        version: 'v1',
        kind: 'ConfigMap',
        namespace: '<here>',
        name: '<name>',
      }),
    ],
    abroad: [
      at('status.resources[*]', {
        version: 'v1',
        kind: 'ConfigMap',
        namespace: '<there>',
        name: '<name>',
      }),
    ],
    missed: [
      at('status.resources[*]', {
        version: 'v1',
        kind: 'Pod',
        namespace: '<here>',
        name: '<name>',
      }),
      at('status.resources[*]', {
        group: 'rel.unknown',
        kind: 'ConfigMap',
        namespace: '<here>',
        name: '<name>',
      }),
    ],
  }),
  {
    objects: [
      ['ArgoApplication ~shop'],
      ['ArgoApplication ~idle'],
      ['ConfigMap ~tracked', tracking('~shop:/ConfigMap:<here>/~tracked')],
      ['ConfigMap ~labelled', at('metadata.labels[app.kubernetes.io/instance]', '~shop')],
      ['ConfigMap ~labelled-too', at('metadata.labels[argocd.argoproj.io/instance]', '~shop')],
      ['ConfigMap ~copied', tracking('~shop:/ConfigMap:<here>/~tracked')],
      ['ConfigMap ~other', at('metadata.labels[app.kubernetes.io/instance]', '~unknown')],
      ['ConfigMap ~bare'],
    ],
    leads: {
      'KubernetesObject.trackingArgoApplications': {
        'ConfigMap ~tracked': ['ArgoApplication ~shop'],
        'ConfigMap ~labelled': ['ArgoApplication ~shop'],
        'ConfigMap ~labelled-too': ['ArgoApplication ~shop'],
      },
      'ArgoApplication.trackedObjects': {
        'ArgoApplication ~shop': [
          'ConfigMap ~tracked',
          'ConfigMap ~labelled',
          'ConfigMap ~labelled-too',
        ],
      },
    },
  },
]

function tracking(id: string): Form {
  return at('metadata.annotations[argocd.argoproj.io/tracking-id]', id)
}

const issuerForms = (kind: string, isDefault: boolean) => ({
  meant: [
    at('spec.issuerRef', { kind, name: '<name>' }),
    at('spec.issuerRef', { kind, name: '<name>', group: 'cert-manager.io' }),
    ...(isDefault ? [at('spec.issuerRef', { name: '<name>' })] : []),
  ],
  missed: [
    at('spec.issuerRef', { kind: 'AWSPCAIssuer', name: '<name>' }),
    at('spec.issuerRef', { kind, name: '<name>', group: 'rel.unknown' }),
    ...(isDefault ? [] : [at('spec.issuerRef', { name: '<name>' })]),
  ],
})

const certificates: readonly FieldCase[] = [
  reference('CertManagerCertificate.secret', 'Secret.certificates', 'spec.secretName'),
  link(
    'CertManagerCertificate.issuer',
    'CertManagerIssuer.certificates',
    issuerForms('Issuer', true),
  ),
  link(
    'CertManagerCertificate.clusterIssuer',
    'CertManagerClusterIssuer.certificates',
    issuerForms('ClusterIssuer', false),
  ),
  ...['CertificateRequest', 'AcmeOrder_', 'AcmeChallenge'].flatMap((type) => [
    link(`CertManager${type}.issuer`, 'CertManagerIssuer', issuerForms('Issuer', true)),
    link(
      `CertManager${type}.clusterIssuer`,
      'CertManagerClusterIssuer',
      issuerForms('ClusterIssuer', false),
    ),
  ]),
  owner('CertManagerCertificateRequest.certificate', 'CertManagerCertificate.certificateRequests'),
  owner('CertManagerAcmeOrder_.certificateRequest', 'CertManagerCertificateRequest.orders'),
  owner('CertManagerAcmeChallenge.order', 'CertManagerAcmeOrder_.challenges'),
  reference(
    'CertManagerIssuer.secrets',
    'Secret',
    'spec.ca.secretName',
    'spec.acme.privateKeySecretRef.name',
  ),
]

const clusterApi: readonly FieldCase[] = [
  ...['controlPlane', 'infrastructure'].map((name) =>
    objectReference(`ClusterApiCluster.${name}`, 'RelExampleThing', `spec.${name}Ref`),
  ),
  objectReference('ClusterApiMachine.bootstrap', 'RelExampleThing', 'spec.bootstrap.configRef'),
  objectReference('ClusterApiMachine.infrastructure', 'RelExampleThing', 'spec.infrastructureRef'),
  reference('ClusterApiMachine.machineCluster', 'ClusterApiCluster.machines', 'spec.clusterName'),
  reference('ClusterApiMachine.node', 'Node.machine', 'status.nodeRef.name'),
  owner('ClusterApiMachine.machineSet', 'ClusterApiMachineSet.machines'),
  owner('ClusterApiMachineSet.machineDeployment', 'ClusterApiMachineDeployment.machineSets'),
  chain('ClusterApiMachine', 'ClusterApiMachineSet', 'ClusterApiMachineDeployment.machines'),
  reference(
    'ClusterApiMachineDeployment.machineCluster',
    'ClusterApiCluster.machineDeployments',
    'spec.clusterName',
  ),
  selection('ClusterApiMachineHealthCheck.machines', 'ClusterApiMachine', 'spec.selector'),
]

const composed = (path: string, name = '<name>'): Form =>
  at(path, { apiVersion: 'v1', kind: 'Node', name })

const crossplane: readonly FieldCase[] = [
  owner('CrossplaneCompositionRevision.composition', 'CrossplaneComposition.compositionRevisions'),
  owner('CrossplanePkgProviderRevision.provider', 'CrossplanePkgProvider.providerRevisions'),
  objectReference('RelExampleBucketclaim.*composite', 'RelExampleXbucket', 'spec.resourceRef'),
  link('RelExampleXbucket.*claim', 'RelExampleBucketclaim', {
    meant: [claimRef({ namespace: '<here>' })],
    abroad: [claimRef({ namespace: '<there>' })],
    missed: [claimRef({ namespace: '<here>', kind: 'Unknown' }), claimRef({})],
  }),
  link('RelExampleXbucket.*composedResources', 'Node.*composites', {
    meant: ['spec.crossplane.resourceRefs[*]', 'spec.resourceRefs[*]'].map((path) =>
      composed(path),
    ),
    missed: [at('spec.resourceRefs[*]', { apiVersion: 'v1', kind: 'Unknown', name: '<name>' })],
  }),
  ...(['composition', 'compositionRevision'] as const).flatMap((name) =>
    ['RelExampleXbucket', 'RelExampleBucketclaim'].map((type) =>
      reference(
        `${type}.*${name}`,
        `Crossplane${name.charAt(0).toUpperCase()}${name.slice(1)}.compositeObjects`,
        `spec.crossplane.${name}Ref.name`,
        `spec.${name}Ref.name`,
      ),
    ),
  ),
]

function claimRef(members: object): Form {
  return at('spec.claimRef', {
    apiVersion: 'rel.example/v1',
    kind: 'Bucketclaim',
    name: '<name>',
    ...members,
  })
}

const storeForm = (members: object): Form =>
  at('spec.secretStoreRef', { name: '<name>', ...members })

const externalSecrets: readonly FieldCase[] = [
  reference(
    'ExternalSecretsExternalSecret.secret',
    'Secret.externalSecret',
    'spec.target.name',
    'status.binding.name',
  ),
  {
    objects: [
      ['ExternalSecretsExternalSecret ~plain'],
      ['ExternalSecretsExternalSecret ~named', at('spec.target.name', '~gone')],
      ['Secret ~plain'],
      ['Secret ~named'],
    ],
    leads: {
      'ExternalSecretsExternalSecret.secret': {
        'ExternalSecretsExternalSecret ~plain': ['Secret ~plain'],
      },
      'Secret.externalSecret': { 'Secret ~plain': ['ExternalSecretsExternalSecret ~plain'] },
    },
  },
  link('ExternalSecretsExternalSecret.secretStore', 'ExternalSecretsSecretStore.externalSecrets', {
    meant: [storeForm({}), storeForm({ kind: 'SecretStore' })],
    missed: [storeForm({ kind: 'ClusterSecretStore' })],
  }),
  link(
    'ExternalSecretsExternalSecret.clusterSecretStore',
    'ExternalSecretsClusterSecretStore.externalSecrets',
    {
      meant: [storeForm({ kind: 'ClusterSecretStore' })],
      missed: [storeForm({}), storeForm({ kind: 'SecretStore' })],
    },
  ),
  owner('ExternalSecretsExternalSecret', 'ExternalSecretsClusterExternalSecret.externalSecrets'),
  reference('ExternalSecretsPushSecret.secret', 'Secret', 'spec.selector.secret.name'),
]

const karpenter: readonly FieldCase[] = [
  reference('KarpenterNodeClaim.node', 'Node.nodeClaim', 'status.nodeName'),
  reference(
    'KarpenterNodeClaim.nodePool',
    'KarpenterNodePool.nodeClaims',
    'metadata.labels[karpenter.sh/nodepool]',
  ),
  objectReference('KarpenterNodeClaim.nodeClass', 'Node', 'spec.nodeClassRef', 'group'),
  objectReference(
    'KarpenterNodePool.nodeClass',
    'Node',
    'spec.template.spec.nodeClassRef',
    'group',
  ),
  {
    objects: [
      ['Node ~a'],
      ['Node ~b'],
      ['KarpenterNodePool ~a'],
      ['KarpenterNodePool ~b'],
      [
        'KarpenterNodeClaim ~a',
        all(at('metadata.labels[karpenter.sh/nodepool]', '~a'), at('status.nodeName', '~a')),
      ],
      ['KarpenterNodeClaim ~new', at('metadata.labels[karpenter.sh/nodepool]', '~b')],
    ],
    leads: { 'KarpenterNodePool.nodes': { 'KarpenterNodePool ~a': ['Node ~a'] } },
  },
]

const scaleTarget = (members: object): Form =>
  at('spec.scaleTargetRef', { name: '<name>', ...members })
const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet' }

const keda: readonly FieldCase[] = [
  objectReference('KedaScaledObject.target', 'Deployment', 'spec.scaleTargetRef'),
  link('KedaScaledObject.deployment', 'Deployment.scaledObjects', {
    meant: [scaleTarget({}), scaleTarget({ apiVersion: 'apps/v1', kind: 'Deployment' })],
    missed: [
      scaleTarget(statefulSet),
      scaleTarget({ apiVersion: 'rel.unknown/v1', kind: 'Deployment' }),
    ],
  }),
  link('KedaScaledObject.statefulSet', 'StatefulSet.scaledObjects', {
    meant: [scaleTarget(statefulSet)],
    missed: [scaleTarget({}), scaleTarget({ kind: 'StatefulSet', apiVersion: 'rel.unknown/v1' })],
  }),
  owner('HorizontalPodAutoscaler.scaledObject', 'KedaScaledObject.horizontalPodAutoscalers'),
  link('KedaScaledObject.triggerAuthentications', 'KedaTriggerAuthentication.scaledObjects', {
    meant: [
      at('spec.triggers[*].authenticationRef', { name: '<name>' }),
      at('spec.triggers[*].authenticationRef', { name: '<name>', kind: 'TriggerAuthentication' }),
    ],
    missed: [
      at('spec.triggers[*].authenticationRef', {
        name: '<name>',
        kind: 'ClusterTriggerAuthentication',
      }),
    ],
  }),
  reference('KedaTriggerAuthentication.secrets', 'Secret', 'spec.secretTargetRef[*].name'),
]

const kyverno: readonly FieldCase[] = [
  reference(
    'KyvernoPolicyException.clusterPolicies',
    'KyvernoClusterPolicy.policyExceptions',
    'spec.exceptions[*].policyName',
  ),
]

const metallb: readonly FieldCase[] = [
  ...['L2Advertisement', 'BGPAdvertisement'].flatMap((kind) => [
    reference(
      `MetallbIo${kind}.ipAddressPools`,
      'MetallbIoIPAddressPool',
      'spec.ipAddressPools[*]',
    ),
    // One without names and selectors advertises every pool.
    selection(
      `MetallbIo${kind}.selectedIPAddressPools`,
      'MetallbIoIPAddressPool',
      'spec.ipAddressPoolSelectors[*]',
      { bare: at('spec.ipAddressPools[*]', '~gone'), everything: [{}] },
    ),
  ]),
  reference('MetallbIoBGPAdvertisement.bgpPeers', 'MetallbIoBGPPeer', 'spec.peers[*]'),
  reference('MetallbIoBGPPeer.bfdProfile', 'MetallbIoBFDProfile', 'spec.bfdProfile'),
]

const contour: readonly FieldCase[] = [
  reference(
    'ProjectcontourIoHTTPProxy.services',
    'Service.httpProxies',
    'spec.routes[*].services[*].name',
    'spec.tcpproxy.services[*].name',
  ),
  link(
    'ProjectcontourIoHTTPProxy.includedHttpProxies',
    'ProjectcontourIoHTTPProxy.includingHttpProxies',
    {
      meant: [at('spec.includes[*].name'), at('spec.tcpproxy.include.name')],
      abroad: [at('spec.includes[*]', { name: '<name>', namespace: '<there>' })],
      missed: [at('spec.includes[*]', { name: '<name>', namespace: 'rel-elsewhere' })],
    },
  ),
  reference(
    'ProjectcontourIoHTTPProxy.secrets',
    'Secret',
    'spec.virtualhost.tls.secretName',
    'spec.routes[*].services[*].validation.caSecret',
  ),
  reference('ProjectcontourIoExtensionService.services', 'Service', 'spec.services[*].name'),
  reference(
    'ProjectcontourIoTLSCertificateDelegation.secrets',
    'Secret',
    'spec.delegations[*].secretName',
  ),
]

/** Relations of well-known operators. */
export const operatorFieldCases: readonly FieldCase[] = [
  ...argo,
  ...certificates,
  ...clusterApi,
  ...crossplane,
  ...externalSecrets,
  ...karpenter,
  ...keda,
  ...kyverno,
  ...metallb,
  ...contour,
]
