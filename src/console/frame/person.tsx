/** The person's menu: who they are, how the console looks and reads keys, and signing out. */
import { useState } from 'react'
import { errorWords } from '../api/errors.ts'
import { command } from '../api/queries.ts'
import { leaveFor, tellOtherTabs } from '../api/session.ts'
import { boot } from '../boot.ts'
import { AskFirst } from '../parts/dialog.tsx'
import { Menu } from '../parts/menu.tsx'
import { dropAllTyped, unsavedCount } from '../typed/typed-text.ts'
import { notify } from './notices.ts'
import { SingleKeys, Themes } from './preferences.tsx'
import { WorkspaceChoices } from './workspace.tsx'

const { person, role } = boot.session

const signOut = async (): Promise<void> => {
  try {
    await command('app.session.signOut', {})
    dropAllTyped(localStorage)
    tellOtherTabs({ said: 'signed out' })
    leaveFor('/sign-in')
  } catch (cause) {
    notify({ says: errorWords(cause), tone: 'bad' })
  }
}

const initialOf = (name: string): string => [...name.trim()][0]?.toUpperCase() ?? '?'

export const PersonMenu = () => {
  const [unsaved, setUnsaved] = useState(0)
  const leave = (close: () => void) => {
    close()
    const count = unsavedCount(localStorage, person.id)
    if (count > 0) setUnsaved(count)
    else void signOut()
  }
  return (
    <>
      <Menu
        says=": your menu"
        className="person"
        button={
          <>
            <span className="avatar" aria-hidden="true">
              {initialOf(person.name)}
            </span>
            <span className="person-name">
              <bdi>{person.name}</bdi>
              <span className="soft">{role}</span>
            </span>
          </>
        }
      >
        {(close) => (
          <>
            <p className="menu-person">
              <bdi>{person.name}</bdi> <span className="soft">{role}</span>
            </p>
            {person.email && <p className="soft">{person.email}</p>}
            <WorkspaceChoices close={close} />
            <Themes />
            <SingleKeys />
            <a href="/device">Approve a device</a>
            <a href="/docs">API reference</a>
            <button type="button" onClick={() => leave(close)}>
              Sign out
            </button>
          </>
        )}
      </Menu>
      {unsaved > 0 && (
        <AskFirst
          title={unsaved === 1 ? 'A text is not saved' : `${unsaved} texts are not saved`}
          does="Sign out and lose them"
          tone="harm"
          act={() => void signOut()}
          close={() => setUnsaved(0)}
        >
          <p>What you typed is kept in this browser alone, and signing out removes it.</p>
        </AskFirst>
      )}
    </>
  )
}
