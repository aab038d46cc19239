import { object } from './relation-cluster.ts'
import type { RelationRow } from './relation-row.ts'

const rbac = 'rbac.authorization.k8s.io/v1'
const admission = 'admissionregistration.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const roleRef = { apiGroup, kind: 'ClusterRole', name: 'rel-any' }
const group = (name: string) => ({ kind: 'Group', apiGroup, name })
const user = (name: string) => ({ kind: 'User', apiGroup, name })
const bound = (kind: string, name: string, subjects: readonly object[]) =>
  object(rbac, kind, name, { roleRef, subjects })

/** Rows of subjects that are no objects, of parameters, and of what a namespace has. */
export const bindingRows: readonly RelationRow[] = [
  {
    row: '45: accounts that bindings mean by a group or a user name',
    objects: [
      object('v1', 'ServiceAccount', 'robot'),
      object('v1', 'ServiceAccount', 'robot', {}, { namespace: 'rel-elsewhere' }),
      bound('RoleBinding', 'of-namespace', [group('system:serviceaccounts:<namespace>')]),
      bound('RoleBinding', 'of-other', [group('system:serviceaccounts:rel-elsewhere')]),
      bound('RoleBinding', 'by-user', [user('system:serviceaccount:<namespace>:robot')]),
      // A user may be called like a group, and the other way round: neither means an account.
      bound('RoleBinding', 'mistaken', [
        user('system:serviceaccounts:<namespace>'),
        group('system:serviceaccount:<namespace>:robot'),
        { kind: 'ServiceAccount', name: 'robot', namespace: '<namespace>' },
      ]),
      bound('ClusterRoleBinding', 'rel-everybody', [group('system:serviceaccounts')]),
      bound('ClusterRoleBinding', 'rel-people', [group('developers'), user('jane')]),
    ],
    expected: {
      'serviceAccount robot indirectRoleBindings': ['by-user', 'of-namespace'],
      'serviceAccount robot roleBindings': ['mistaken'],
      'serviceAccount robot@rel-elsewhere indirectRoleBindings': ['of-other'],
      'serviceAccount robot indirectClusterRoleBindings': ['rel-everybody'],
      'roleBinding of-namespace indirectServiceAccounts': ['robot'],
      'roleBinding by-user indirectServiceAccounts': ['robot'],
      'roleBinding by-user serviceAccounts': [],
      'roleBinding mistaken indirectServiceAccounts': [],
      'roleBinding mistaken serviceAccounts': ['robot'],
      'clusterRoleBinding rel-people indirectServiceAccounts': [],
    },
  },
  {
    row: '50: parameters of admission policies, of the kind that the policy says',
    objects: [
      object(admission, 'ValidatingAdmissionPolicy', 'rel-limits', {
        spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      }),
      object(admission, 'ValidatingAdmissionPolicy', 'rel-plain', { spec: {} }),
      object('v1', 'ConfigMap', 'limits'),
      object('v1', 'ConfigMap', 'limits', {}, { namespace: 'rel-elsewhere' }),
      object('v1', 'ConfigMap', 'strict', {}, { labels: { 'rel/params': 'strict' } }),
      object(
        'v1',
        'ConfigMap',
        'far',
        {},
        { labels: { 'rel/params': 'strict' }, namespace: 'rel-elsewhere' },
      ),
      object('v1', 'Secret', 'strict', {}, { labels: { 'rel/params': 'strict' } }),
      object(admission, 'ValidatingAdmissionPolicyBinding', 'rel-near', {
        spec: {
          policyName: 'rel-limits',
          paramRef: {
            selector: { matchLabels: { 'rel/params': 'strict' } },
            namespace: '<namespace>',
          },
        },
      }),
      object(admission, 'ValidatingAdmissionPolicyBinding', 'rel-wide', {
        spec: {
          policyName: 'rel-limits',
          paramRef: {
            selector: {
              matchExpressions: [{ key: 'rel/params', operator: 'In', values: ['strict'] }],
            },
          },
        },
      }),
      object(admission, 'ValidatingAdmissionPolicyBinding', 'rel-everywhere', {
        spec: { policyName: 'rel-limits', paramRef: { name: 'limits' } },
      }),
      object(admission, 'ValidatingAdmissionPolicyBinding', 'rel-limited', {
        spec: {
          policyName: 'rel-limits',
          paramRef: { name: 'limits', namespace: '<namespace>' },
        },
      }),
      object(admission, 'ValidatingAdmissionPolicyBinding', 'rel-without', {
        spec: { policyName: 'rel-plain', paramRef: { name: 'limits' } },
      }),
      object(admission, 'ValidatingAdmissionPolicyBinding', 'rel-selecting', {
        spec: { policyName: 'rel-limits', paramRef: { selector: {} } },
      }),
      object(admission, 'ValidatingAdmissionPolicyBinding', 'rel-lost', {
        spec: { policyName: 'rel-gone', paramRef: { name: 'limits' } },
      }),
    ],
    expected: {
      'validatingAdmissionPolicyBinding rel-limited params': 'limits',
      'validatingAdmissionPolicyBinding rel-without params': null,
      'validatingAdmissionPolicyBinding rel-selecting params': null,
      'validatingAdmissionPolicyBinding rel-lost params': null,
      'validatingAdmissionPolicyBinding rel-limited paramObjects': ['limits'],
      'validatingAdmissionPolicyBinding rel-everywhere paramObjects': ['limits', 'limits'],
      'validatingAdmissionPolicyBinding rel-near paramObjects': ['strict'],
      'validatingAdmissionPolicyBinding rel-wide paramObjects': ['far', 'strict'],
      'validatingAdmissionPolicyBinding rel-without paramObjects': [],
      'validatingAdmissionPolicyBinding rel-lost paramObjects': [],
      'configMap limits admissionPolicyBindings': [
        'rel-everywhere',
        'rel-limited',
        'rel-selecting',
      ],
      'configMap limits@rel-elsewhere admissionPolicyBindings': ['rel-everywhere', 'rel-selecting'],
      'configMap strict admissionPolicyBindings': ['rel-near', 'rel-selecting', 'rel-wide'],
      'configMap far@rel-elsewhere admissionPolicyBindings': ['rel-selecting', 'rel-wide'],
      'secret strict admissionPolicyBindings': [],
    },
  },
  {
    row: '42, 43: what a namespace has',
    objects: [
      object('v1', 'Namespace', 'rel-full'),
      object('v1', 'Namespace', 'rel-empty'),
      object('v1', 'ResourceQuota', 'quota', {}, { namespace: 'rel-full' }),
      object('v1', 'LimitRange', 'range', {}, { namespace: 'rel-full' }),
      object('v1', 'ConfigMap', 'settings', {}, { namespace: 'rel-full' }),
      object('v1', 'ConfigMap', 'settings', {}, { namespace: 'rel-unmade' }),
    ],
    expected: {
      'namespace rel-full resourceQuotas': ['quota'],
      'namespace rel-full limitRanges': ['range'],
      'namespace rel-full configMaps': ['settings'],
      'namespace rel-empty resourceQuotas': [],
      'namespace rel-empty limitRanges': [],
      'namespace rel-empty configMaps': [],
      'resourceQuota quota@rel-full namespaceObject': 'rel-full',
      'configMap settings@rel-unmade namespaceObject': null,
    },
  },
]
