import { type ReactNode, useMemo } from 'react'
import { useCutClusters } from '../gateway/counts.ts'
import { gapSentences, SaidCut } from '../look/gaps.ts'
import { words } from '../words.ts'
import styles from './cut-clusters.module.css'

const said = words.frame.line

/** Which clusters in scope the gateway cannot read, and since when: a row above every view, as long as it lasts. The view does not say it again. */
export function CutClusters({ children }: { readonly children: ReactNode }) {
  const gaps = useCutClusters().map(({ name: cluster, state, since }) =>
    state === 'UNREACHABLE'
      ? { cluster, code: 'CLUSTER_UNREACHABLE', message: '', since }
      : { cluster, code: state, message: said.refused, since },
  )
  const names = JSON.stringify(gaps.map(({ cluster }) => cluster))
  const cut = useMemo(() => new Set(JSON.parse(names) as readonly string[]), [names])
  return (
    <SaidCut value={cut}>
      <div role="status" className={styles['cut']}>
        {gapSentences(gaps, said.objects).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      {children}
    </SaidCut>
  )
}
