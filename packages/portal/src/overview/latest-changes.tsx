import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { clustersOf, useScope } from '../scope.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { words } from '../words.ts'
import { Section } from './section.tsx'

const shown = 8

/** The newest changes of the scope. */
export function LatestChanges() {
  const { scope } = useScope()
  const of = useMemo(
    () => ({ ...clustersOf(scope), namespaces: scope.namespaces?.slice() ?? null }),
    [scope],
  )
  return (
    <Section title={words.timeline.latest} aside={<Link to="/changes">{words.timeline.all}</Link>}>
      <Timeline of={of} most={shown} />
    </Section>
  )
}
