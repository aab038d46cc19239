/** The texts of the page of certificates. */
export const certificateWords = {
  title: 'Certificates',
  columns: {
    ends: 'Ends',
    names: 'For',
    object: 'Certificate',
    issuer: 'Issuer',
    usedBy: 'Used by',
  },
  none: 'There are no certificates here.',
  noneSeen: 'There are no certificates that you may see.',
  notIssued: 'Not issued',
  ended: (span: string): string => `Ended ${span} ago`,
  in: (span: string): string => `in ${span}`,
  renewed: (span: string): string => `renewed in ${span}`,
  renewalDue: 'renewal is due',
  notLookedAt: (type: string, why: string): string =>
    `${type === 'Secret' ? 'Certificates in Secrets' : 'Certificates of cert-manager'} are not looked at: ${why}`,
  notSetUp: 'this gateway does not read what Secrets hold',
  inClusters: (sentence: string, clusters: readonly string[]): string =>
    `${sentence} (${clusters.length > 4 ? `${clusters.length} clusters` : clusters.join(', ')}).`,
  noManager: 'No cluster here has cert-manager.',
  part: 'You see a part of the certificates only: those that you may read.',
  more: (shown: number, total: number): string =>
    `The first ${shown.toLocaleString()} of ${total.toLocaleString()} by their end; those without one would come last.`,
  failed: 'The certificates cannot be shown.',
} as const
