import { Menu } from '@base-ui/react/menu'
import { useCounts } from '../gateway/counts.ts'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { useScope } from '../scope.ts'
import { words } from '../words.ts'
import styles from './scope-picker.module.css'

/** The cluster of the scope; a choice where the gateway has several. */
export function ClusterPicker() {
  const { scope, setScope } = useScope()
  const { clusters } = useCounts()
  const name = scope.cluster ?? clusters?.[0]?.name
  if (clusters === undefined || name === undefined || clusters.length < 2) return null
  return (
    <Menu.Root>
      <Menu.Trigger
        className={`${controls['quiet']} ${styles['trigger']}`}
        aria-label={`${words.frame.scope.cluster}: ${name}`}
        title={name}
      >
        <Icon name="cluster" />
        <span className={styles['label']}>{name}</span>
        <Icon name="chevron" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={overlay['positioner']} align="start" sideOffset={4}>
          <Menu.Popup className={overlay['popup']}>
            <Menu.RadioGroup
              value={name}
              onValueChange={(cluster: string) => {
                // Namespaces of another cluster are others, even of the same name.
                setScope({ cluster })
              }}
            >
              {clusters.map((cluster) => (
                <Menu.RadioItem
                  key={cluster.name}
                  value={cluster.name}
                  className={overlay['item']}
                  closeOnClick
                >
                  <span className={overlay['check']}>
                    <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
                  </span>
                  {cluster.name}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}
