import { link, objectReference, reference } from './link.ts'
import { owner } from './owner-links.ts'
import { selection, taken } from './selection-links.ts'
import type { FieldCase, Form } from './field-case.ts'
import { all, at } from './form.ts'

const dependsOn = (members: object): Form => at('spec.dependsOn[*]', { name: '<name>', ...members })

const values = (kind: string): Form => at('spec.valuesFrom[*]', { kind, name: '<name>' })

const labelled = (prefix: string, namespace: string): Form =>
  all(
    at(`metadata.labels[${prefix}.toolkit.fluxcd.io/name]`),
    at(`metadata.labels[${prefix}.toolkit.fluxcd.io/namespace]`, namespace),
  )

const flux: readonly FieldCase[] = [
  ...['GitRepository', 'OCIRepository', 'Bucket'].map((kind) =>
    objectReference(
      'FluxKustomizeKustomization.source',
      `FluxSource${kind}.kustomizations`,
      'spec.sourceRef',
    ),
  ),
  ...['GitRepository', 'OCIRepository', 'Bucket', 'HelmRepository'].flatMap((kind) => [
    objectReference(
      'FluxHelmHelmRelease.source',
      `FluxSource${kind}.helmReleases`,
      'spec.chart.spec.sourceRef',
    ),
    reference(`FluxSource${kind}.secret`, 'Secret', 'spec.secretRef.name'),
  ]),
  objectReference('FluxSourceHelmChart.source', 'FluxSourceGitRepository', 'spec.sourceRef'),
  objectReference('FluxHelmHelmRelease.chart', 'FluxSourceHelmChart', 'spec.chartRef'),
  ...(
    [
      ['FluxKustomizeKustomization', 'kustomizations'],
      ['FluxHelmHelmRelease', 'helmReleases'],
    ] as const
  ).map(([type, field]) =>
    link(`${type}.${field}`, `${type}.dependents`, {
      meant: [dependsOn({}), dependsOn({ namespace: '<mine>' })],
      abroad: [dependsOn({ namespace: '<there>' })],
      missed: [dependsOn({ namespace: 'rel-elsewhere' })],
    }),
  ),
  link('FluxHelmHelmRelease.configMaps', 'ConfigMap', {
    meant: [values('ConfigMap')],
    missed: [values('Secret')],
  }),
  link('FluxHelmHelmRelease.secrets', 'Secret', {
    meant: [values('Secret')],
    missed: [values('ConfigMap')],
  }),
  ...(
    [
      ['kustomize', 'fluxKustomization', 'FluxKustomizeKustomization'],
      ['helm', 'fluxHelmRelease', 'FluxHelmHelmRelease'],
    ] as const
  ).map(([prefix, field, type]) =>
    link(`ConfigMap.*${field}`, `${type}.objects`, {
      meant: [labelled(prefix, '<here>')],
      abroad: [labelled(prefix, '<there>')],
      missed: [labelled(prefix, 'rel-elsewhere')],
    }),
  ),
]

/** What each kind of the monitoring operator takes: by field, the type and its selector. */
const takers: readonly (readonly [
  type: string,
  back: string,
  takes: readonly (readonly [string, string, string])[],
])[] = [
  [
    'Prometheus',
    'prometheuses',
    [
      ['serviceMonitors', 'ServiceMonitor', 'serviceMonitor'],
      ['podMonitors', 'PodMonitor', 'podMonitor'],
      ['probes', 'Probe', 'probe'],
      ['scrapeConfigs', 'ScrapeConfig', 'scrapeConfig'],
      ['prometheusRules', 'PrometheusRule', 'rule'],
    ],
  ],
  [
    'PrometheusAgent',
    'prometheusAgents',
    [
      ['serviceMonitors', 'ServiceMonitor', 'serviceMonitor'],
      ['podMonitors', 'PodMonitor', 'podMonitor'],
      ['probes', 'Probe', 'probe'],
      ['scrapeConfigs', 'ScrapeConfig', 'scrapeConfig'],
    ],
  ],
  ['ThanosRuler', 'thanosRulers', [['prometheusRules', 'PrometheusRule', 'rule']]],
  [
    'Alertmanager',
    'alertmanagers',
    [['alertmanagerConfigs', 'AlertmanagerConfig', 'alertmanagerConfig']],
  ],
]

const monitoring: readonly FieldCase[] = [
  ...takers.flatMap(([type, back, takes]) => [
    owner('StatefulSet', `Monitoring${type}.statefulSets`),
    ...takes.flatMap(([field, to, name]) =>
      taken(`Monitoring${type}.${field}`, `Monitoring${to}.${back}`, name),
    ),
  ]),
  selection('MonitoringServiceMonitor.services', 'Service.serviceMonitors', 'spec.selector', {
    everything: [at('spec.selector', {})],
    abroad: [monitorAt({ matchNames: ['<there>'] })],
  }),
  selection('MonitoringPodMonitor.pods', 'Pod.podMonitors', 'spec.selector', {
    everything: [at('spec.selector', {})],
    abroad: [monitorAt({ matchNames: ['<there>'] })],
  }),
]

function monitorAt(namespaceSelector: object): Form {
  return { spec: { namespaceSelector, selector: { matchLabels: { rel: '<name>' } } } }
}

/** Relations of Flux and of the monitoring operator. */
export const deliveryFieldCases: readonly FieldCase[] = [...flux, ...monitoring]
