import { useNavigate } from '@tanstack/react-router'
import { useTheme } from '../look/theme.ts'
import { words } from '../words.ts'
import { useKeys } from './keys.ts'
import { usePinThisView } from './rail.tsx'

/** Kinds with a key of their own: `g p`. */
const kindKeys = [
  ['p', 'pods', 'Pods'],
  ['d', 'deployments.apps', 'Deployments'],
  ['s', 'services', 'Services'],
  ['n', 'nodes', 'Nodes'],
  ['e', 'events', 'Events'],
  ['c', 'configmaps', 'ConfigMaps'],
] as const

/** The keys that work in every view. */
export function useFrameKeys({
  search,
  keys,
  rail,
}: {
  readonly search: () => void
  readonly keys: () => void
  readonly rail: () => void
}): void {
  const navigate = useNavigate()
  const { toggle } = usePinThisView()
  const [theme, setTheme] = useTheme()
  const said = words.frame.keys
  const { overview, problems, applications } = words.frame
  useKeys([
    { keys: 'mod+k', does: said.search, run: search },
    { keys: '/', does: said.search, run: search },
    { keys: '?', does: said.show, run: keys },
    { keys: '[', does: said.rail, run: rail },
    { keys: 'g o', does: said.go(overview), run: () => void navigate({ to: '/' }) },
    { keys: 'g b', does: said.go(problems), run: () => void navigate({ to: '/problems' }) },
    {
      keys: 'g h',
      does: said.go(words.timeline.title),
      run: () => void navigate({ to: '/changes' }),
    },
    {
      keys: 'g a',
      does: said.go(applications),
      run: () => void navigate({ to: '/applications' }),
    },
    ...kindKeys.map(([key, resource, title]) => ({
      keys: `g ${key}`,
      does: said.go(title),
      run: () => void navigate({ to: '/kinds/$resource', params: { resource } }),
    })),
    { keys: 'P', does: said.pin, run: toggle },
    {
      keys: 'T',
      does: said.theme,
      run: () => {
        setTheme(theme === 'dark' ? 'light' : 'dark')
      },
    },
  ])
}
