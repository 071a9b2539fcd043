/** The code that links the reader's own sender, what to do with it, whether it has been used. */
import { useEffect, useRef, useState } from 'react'
import type { AnswerOf } from '../../api/operations.ts'
import { useCommand } from '../../api/use-command.ts'
import { boot } from '../../boot.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { Copied, useShownOnce } from '../../parts/shown-once.tsx'
import { Failed } from '../../parts/states.tsx'
import { type ConnectedChannel, type SenderLink, useLinks } from './read.ts'

type Shown = AnswerOf<'agent.channelIdentities.linkCode'> & { before: ReadonlySet<string> }

const SECOND_MS = 1_000

/** Seconds until then; 0 afterwards. */
const useSecondsUntil = (at: string): number => {
  const left = () => Math.max(0, Math.ceil((Date.parse(at) - Date.now()) / SECOND_MS))
  const [seconds, setSeconds] = useState(left)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the time alone
  useEffect(() => {
    setSeconds(left())
    const timer = setInterval(() => setSeconds(left()), SECOND_MS)
    return () => clearInterval(timer)
  }, [at])
  return seconds
}

const clockOf = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

/** A link as it was at a moment: verified anew, it is another one. */
const nameOf = ({ id, verifiedAt }: SenderLink): string => `${id} ${verifiedAt}`

const linksIn = (links: ReturnType<typeof useLinks>): SenderLink[] =>
  links.data?.pages.flatMap(({ identities }) => identities) ?? []

const CodePanel = ({ of, shown, close }: { of: ConnectedChannel; shown: Shown; close(): void }) => {
  const ref = useRef<HTMLHeadingElement>(null)
  const seconds = useSecondsUntil(shown.expiresAt)
  const links = useLinks(of.id, { awaited: seconds > 0 })
  const linked = linksIn(links).find(
    (one) => one.personId === boot.session.person.id && !shown.before.has(nameOf(one)),
  )
  useEffect(() => ref.current?.focus(), [])
  const done = useRef(close)
  done.current = close
  useEffect(() => {
    if (!linked) return
    notify({ says: 'Linked to you', about: linked.name ?? linked.sender })
    done.current()
  }, [linked])
  return (
    <div className="panel is-secret">
      <h4 ref={ref} tabIndex={-1}>
        {seconds > 0 ? 'Your code. Show it to nobody.' : 'The code has ended.'}
      </h4>
      {seconds > 0 && (
        <>
          <Copied title="Code" text={shown.code} className="is-code" />
          <ol className="steps">
            {shown.steps.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
          <p className="soft">
            It works once, for you alone, for another <span>{clockOf(seconds)}</span>. This page
            says so when your sender is linked.
          </p>
        </>
      )}
      <div className="panel-actions">
        <button type="button" className="action plain" onClick={close}>
          Close
        </button>
      </div>
    </div>
  )
}

export const LinkCode = ({ of }: { of: ConnectedChannel }) => {
  const get = useCommand('agent.channelIdentities.linkCode')
  const links = useLinks(of.id)
  const [shown, setShown] = useShownOnce<Shown>()
  const heading = useRef<HTMLDivElement>(null)
  const show = async () => {
    const before = new Set(linksIn(links).map(nameOf))
    const made = await get.run({ id: of.id })
    if (made) setShown({ ...made, before })
  }
  return (
    <div ref={heading} tabIndex={-1} className="link-code">
      {shown ? (
        <CodePanel
          key={shown.code}
          of={of}
          shown={shown}
          close={() => {
            setShown(undefined)
            heading.current?.focus()
          }}
        />
      ) : (
        <ActionButton
          calls="agent.channelIdentities.linkCode"
          busy={get.isRunning}
          label={`Link your sender: ${of.displayName}`}
          act={() => void show()}
        >
          Link your sender
        </ActionButton>
      )}
      {get.cause !== undefined && <Failed cause={get.cause} what="There is no code." />}
    </div>
  )
}
