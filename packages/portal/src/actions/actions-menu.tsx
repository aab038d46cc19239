import { Menu } from '@base-ui/react/menu'
import { Fragment, useEffect, useRef, useState } from 'react'
import { useKeys } from '../frame/keys.ts'
import controls from '../look/controls.module.css'
import { Icon } from '../look/icons.tsx'
import overlay from '../look/overlay.module.css'
import { words } from '../words.ts'
import { ActionDialog } from './action-dialog.tsx'
import type { Inputs } from './action-inputs.tsx'
import { type Action, actionsOf, obstacleOf } from './action-list.ts'
import styles from './actions.module.css'
import { type Acted, type ActionTarget, useActionTarget } from './target.ts'
import { useWantedAction } from './wanted-action.ts'
import { useTakesWrites } from './writable.ts'

const say = words.actions

interface ActionsMenuProps {
  readonly acted: Acted
  /** The object is no more: an open dialog stays to say what was done, and nothing further is offered. */
  readonly isGone?: boolean
  /** Whether there is little room. */
  readonly isSmall?: boolean
}

/** What can be done with an object, as a menu. Nothing where the gateway takes no writes. */
export function ActionsMenu(props: ActionsMenuProps) {
  return useTakesWrites() ? <WritableActions key={props.acted.id} {...props} /> : null
}

function WritableActions({ acted, isGone = false, isSmall = false }: ActionsMenuProps) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [isNear, setNear] = useState(false)
  const [chosen, choose] = useState<{
    readonly action: Action
    readonly target: ActionTarget
    readonly inputs?: Inputs | undefined
  }>()
  // Rights cost reviews at the API server: they are asked for when the menu is about to open.
  const [wanted, forget] = useWantedAction(acted.id)
  const { target, errors } = useActionTarget(acted, isNear || isOpen || wanted !== undefined)
  useEffect(() => {
    if (wanted === undefined || target === undefined) return
    forget()
    const action = actionsOf(target)
      .flat()
      .find(({ name }) => name === wanted.name)
    // What may not be done, or not now, is said in the menu.
    if (action === undefined || obstacleFor(action, target) !== undefined) setOpen(true)
    else choose({ action, target, inputs: wanted.inputs })
  }, [wanted, target])
  useKeys([{ keys: 'a', does: say.key, run: () => setOpen(true) }])
  if (isGone && chosen === undefined) return null
  return (
    <>
      <Menu.Root open={isOpen} onOpenChange={setOpen}>
        <Menu.Trigger
          ref={trigger}
          className={controls[isSmall ? 'icon' : 'button']}
          {...(isSmall ? { title: say.title, 'aria-label': say.title } : {})}
          onPointerEnter={() => setNear(true)}
          onFocus={() => setNear(true)}
        >
          {isSmall ? (
            <Icon name="action" />
          ) : (
            <>
              {say.title}
              <Icon name="chevron" />
            </>
          )}
        </Menu.Trigger>
        <Menu.Portal className="informerql">
          <Menu.Positioner align="end" sideOffset={4} className={overlay['positioner']}>
            <Menu.Popup className={overlay['popup']}>
              {target === undefined ? (
                <Menu.Item disabled className={overlay['item']}>
                  {errors[0] === undefined ? say.asking : say.failed(errors[0].message)}
                </Menu.Item>
              ) : (
                actionsOf(target).map((group, position) => (
                  <Fragment key={group[0]?.name}>
                    {position === 0 ? null : <Menu.Separator className={overlay['separator']} />}
                    {group.map((action) => (
                      <ActionItem
                        key={action.name}
                        action={action}
                        target={target}
                        onChoose={() => choose({ action, target })}
                      />
                    ))}
                  </Fragment>
                ))
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {chosen === undefined ? null : (
        <ActionDialog {...chosen} onClose={() => choose(undefined)} finalFocus={trigger} />
      )}
    </>
  )
}

/** Why an action cannot be done: the right that the user lacks, or the state of the object. */
function obstacleFor(action: Action, target: ActionTarget): string | undefined {
  const isForbidden = target.may(action.right) === false
  return isForbidden ? say.mayNot(say.rights[action.right]) : obstacleOf(action, target)
}

function ActionItem({
  action,
  target,
  onChoose,
}: {
  readonly action: Action
  readonly target: ActionTarget
  readonly onChoose: () => void
}) {
  const { name } = action
  const obstacle = obstacleFor(action, target)
  return (
    <Menu.Item
      className={`${overlay['item']} ${styles['item']}`}
      disabled={obstacle !== undefined}
      onClick={onChoose}
      data-danger={name === 'delete'}
    >
      {say.of[name].label}…{obstacle === undefined ? null : <small>{obstacle}</small>}
    </Menu.Item>
  )
}
