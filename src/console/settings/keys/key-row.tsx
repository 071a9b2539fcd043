/** One key of the list, and its end. */
import { useState } from 'react'
import type { AnswerOf } from '../../api/operations.ts'
import { queryClient } from '../../api/queries.ts'
import { useCommand } from '../../api/use-command.ts'
import { boot } from '../../boot.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { AskFirst } from '../../parts/dialog.tsx'
import { Failed } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

type Key = AnswerOf<'app.keys.list'>['keys'][number]

const ownerOf = ({ person }: Key): string => {
  if (!person) return 'The workspace'
  if (person.id === boot.session.person.id) return 'You'
  return person.email ?? 'A former member'
}

/** Undefined while it works. */
const endOf = ({ revoked_at, expires_at }: Key): { says: string; at: string } | undefined => {
  if (revoked_at) return { says: 'Revoked', at: revoked_at }
  return expires_at && Date.parse(expires_at) <= Date.now()
    ? { says: 'Ended', at: expires_at }
    : undefined
}

const Facts = ({ it }: { it: Key }) => {
  const ended = endOf(it)
  return (
    <dl className="facts">
      <div>
        <dt>Owner</dt>
        <dd>
          <bdi>{ownerOf(it)}</bdi>
        </dd>
      </div>
      <div>
        <dt>Last used</dt>
        <dd>{it.last_used_at ? <When at={it.last_used_at} /> : 'Never'}</dd>
      </div>
      <div>
        <dt>Made</dt>
        <dd>
          <When at={it.created_at} />
        </dd>
      </div>
      <div>
        <dt>{ended?.says ?? 'Ends'}</dt>
        <dd>
          {ended ? <When at={ended.at} /> : it.expires_at ? <When at={it.expires_at} /> : 'Never'}
        </dd>
      </div>
    </dl>
  )
}

const AskRevoke = ({ it, close }: { it: Key; close(): void }) => {
  const revoke = useCommand('app.keys.revoke')
  const act = async () => {
    if (!(await revoke.run({ id: it.id }))) return
    close()
    notify({ says: 'Key revoked', about: it.name })
    await queryClient.invalidateQueries({ queryKey: ['app.keys.list'] })
    // The dialog has given the focus back to a button that is gone by now.
    document.getElementById(`key-${it.id}`)?.focus()
  }
  return (
    <AskFirst
      title="Revoke this key?"
      does="Revoke"
      tone="harm"
      busy={revoke.isRunning}
      act={() => void act()}
      close={close}
    >
      <p>
        <strong>
          <bdi>{it.name}</bdi>
        </strong>{' '}
        <span className="mono">…{it.last4}</span> stops working with its next request, for good.
        Whatever signs in with it is locked out.
      </p>
      <p className="soft">
        {it.last_used_at ? (
          <>
            It was last used <When at={it.last_used_at} />.
          </>
        ) : (
          'It was never used.'
        )}
      </p>
      {revoke.cause !== undefined && <Failed cause={revoke.cause} what="It was not revoked." />}
    </AskFirst>
  )
}

export const KeyRow = ({ it }: { it: Key }) => {
  const [asks, setAsks] = useState(false)
  const ended = endOf(it)
  return (
    <li id={`key-${it.id}`} tabIndex={-1} className={`card ${ended ? 'is-over' : ''}`}>
      <div className="card-head">
        <h3>
          <bdi>{it.name}</bdi> <span className="mono soft">…{it.last4}</span>
        </h3>
        {ended ? (
          <span className="badge">{ended.says}</span>
        ) : (
          <ActionButton
            calls="app.keys.revoke"
            tone="harm"
            label={`Revoke ${it.name}`}
            act={() => {
              setAsks(true)
              // When it was last used decides much.
              void queryClient.invalidateQueries({ queryKey: ['app.keys.list'] })
            }}
          >
            Revoke
          </ActionButton>
        )}
      </div>
      <p className="badges">
        {it.scopes.map((scope) => (
          <span key={scope} className="badge mono">
            {scope}
          </span>
        ))}
      </p>
      <Facts it={it} />
      {asks && <AskRevoke it={it} close={() => setAsks(false)} />}
    </li>
  )
}
