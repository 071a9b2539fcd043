/** API keys: made, shown once with what connects a client, listed, revoked. */
import { useId, useRef, useState } from 'react'
import type { AnswerOf } from '../../api/operations.ts'
import { useReadPages } from '../../api/read-pages.ts'
import { ActionButton } from '../../parts/action.tsx'
import { More } from '../../parts/more.tsx'
import { useShownOnce } from '../../parts/shown-once.tsx'
import { Empty, ReadView } from '../../parts/states.tsx'
import { KeyForm } from './key-form.tsx'
import { KeyRow } from './key-row.tsx'
import { MadeKey } from './made-key.tsx'

export const KeysPage = () => {
  const id = useId()
  const pages = useReadPages('app.keys.list', { limit: 50 })
  const [made, setMade] = useShownOnce<AnswerOf<'app.keys.create'>>()
  const [isOpen, setIsOpen] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const close = () => {
    setIsOpen(false)
    setMade(undefined)
    heading.current?.focus()
  }
  const keys = pages.data?.pages.flatMap((page) => page.keys) ?? []
  return (
    <section className="page" aria-labelledby={id}>
      <div className="page-title">
        <h2 id={id} ref={heading} tabIndex={-1}>
          Keys
        </h2>
        {!isOpen && !made && (
          <ActionButton calls="app.keys.create" tone="go" act={() => setIsOpen(true)}>
            Make a key
          </ActionButton>
        )}
      </div>
      <p className="soft">
        Programs and agents sign in with keys. Your own key can never do more than you can, and ends
        with your membership.
      </p>
      {isOpen && (
        <KeyForm
          close={close}
          show={(answer) => {
            setMade(answer)
            setIsOpen(false)
          }}
        />
      )}
      {made && <MadeKey made={made} close={close} />}
      <ReadView read={pages} what="The list of keys">
        {keys.length === 0 ? (
          <Empty title="No key yet">
            <p>Make one to connect an agent over MCP, or a program over REST.</p>
          </Empty>
        ) : (
          <ul className="cards" aria-label="Keys">
            {keys.map((key) => (
              <KeyRow key={key.id} it={key} />
            ))}
          </ul>
        )}
        <More pages={pages} what="keys" />
      </ReadView>
    </section>
  )
}
