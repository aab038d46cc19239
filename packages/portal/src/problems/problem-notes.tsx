import { Failure, Notice } from '../look/notice.tsx'
import { useGapSentences } from '../look/gaps.ts'
import { errorsOf } from '../gateway/gateway.ts'
import { useCounts } from '../gateway/counts.ts'
import controls from '../look/controls.module.css'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import styles from './problem-line.module.css'
import { type Problems, useProblemCounts } from './use-problems.ts'

const said = words.problems

/** What could not be looked at, said once: clusters that cannot be reached, and kinds. */
export function ProblemGaps({ problems }: { readonly problems: Problems }) {
  const { incomplete, notLookedAt, status, error } = problems
  // What a cluster does not serve has no problems there.
  const gaps = incomplete.filter(({ code }) => code !== 'NOT_SERVED')
  const sentences = [
    ...useGapSentences(gaps, said.what),
    ...(notLookedAt.length === 0 || gaps.length > 0 ? [] : [said.notLookedAt(notLookedAt)]),
  ]
  return (
    <div role="status">
      {sentences.map((sentence) => (
        <p key={sentence} className={styles['unseen']}>
          {sentence}
        </p>
      ))}
      {status === 'failed' ? <Failure errors={errorsOf(error)} /> : null}
    </div>
  )
}

/** Said where nothing is wrong: what was looked at. */
export function NoProblems() {
  const { scope, setScope } = useScope()
  const { byType } = useCounts()
  const isPartly = useProblemCounts()?.isPartly ?? false
  const objects = [...byType.values()].reduce((sum, count) => sum + (count.objects ?? 0), 0)
  return (
    <Notice title={said.none}>
      {scope.namespaces === undefined ? (
        <p>{said.noneNext(objects, isPartly)}</p>
      ) : (
        <>
          <p>{said.noneIn(scope.namespaces)}</p>
          <button
            type="button"
            className={controls['button']}
            onClick={() => {
              setScope({ ...scope, namespaces: [] })
            }}
          >
            {words.table.allNamespaces}
          </button>
        </>
      )}
    </Notice>
  )
}
