/** In which workspace this tab is, and the way into another. */
import { errorWords } from '../api/errors.ts'
import { command, queryClient } from '../api/queries.ts'
import { elsewhere, leaveFor, leaveWith, tellOtherTabs } from '../api/session.ts'
import { boot, type OwnWorkspace } from '../boot.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { useStore } from '../parts/store.ts'
import { hrefOf } from '../router/paths.ts'
import { notify } from './notices.ts'

const { workspace, workspaces } = boot.session

/** The whole session moves, with all tabs, so that each is told. */
const switchTo = async ({ id, name }: Pick<OwnWorkspace, 'id' | 'name'>, path: string) => {
  const move = async (): Promise<void> => {
    await queryClient.cancelQueries()
    await command('app.session.switchWorkspace', { workspace_id: id })
    tellOtherTabs({ said: 'switched', workspace: { id, name } })
  }
  try {
    await leaveWith(move, path)
  } catch (cause) {
    void queryClient.invalidateQueries()
    notify({ says: errorWords(cause), tone: 'bad' })
  }
}

const others = workspaces.filter(({ id }) => id !== workspace.id)

const Others = ({ close }: { close(): void }) =>
  others.map((one) => (
    <button
      key={one.id}
      type="button"
      onClick={() => {
        close()
        void switchTo(one, hrefOf('inbox', {}))
      }}
    >
      <bdi>{one.name}</bdi>
      <span className="soft">{one.role}</span>
    </button>
  ))

/** The switch within the person's menu, where a phone has it. */
export const WorkspaceChoices = ({ close }: { close(): void }) => (
  <fieldset className="workspace-choices">
    <legend className="soft">
      Workspace: <bdi>{workspace.name}</bdi>
    </legend>
    <Others close={close} />
  </fieldset>
)

export const WorkspaceSwitch = () => {
  if (others.length === 0)
    return (
      <p className="workspace">
        <bdi>{workspace.name}</bdi>
      </p>
    )
  return (
    <Menu
      says=": switch to another workspace"
      className="workspace"
      button={
        <>
          <bdi>{workspace.name}</bdi>
          <Icon name="chevron" />
        </>
      }
    >
      {(close) => <Others close={close} />}
    </Menu>
  )
}

/** Another tab has moved the session: what this tab shows belongs to the former workspace. */
export const SessionElsewhere = () => {
  const moved = useStore(elsewhere)
  if (!moved) return null
  const there = moved.name === undefined ? 'another workspace' : <bdi>{moved.name}</bdi>
  return (
    <Dialog title={<>You are in {there} now</>} close={() => {}}>
      <p>
        Another tab of this browser switched from <bdi>{workspace.name}</bdi>. Nothing was read or
        changed meanwhile. What you typed here is kept.
      </p>
      <div className="dialog-actions">
        <button
          type="button"
          className="action plain"
          onClick={() => void switchTo(workspace, location.pathname + location.search)}
        >
          Switch back to <bdi>{workspace.name}</bdi>
        </button>
        <button type="button" className="action go" onClick={() => leaveFor(hrefOf('inbox', {}))}>
          Continue in {there}
        </button>
      </div>
    </Dialog>
  )
}
