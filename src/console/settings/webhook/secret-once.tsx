/** A new signing secret, once. */
import { useEffect, useId, useRef } from 'react'
import { Copied } from '../../parts/shown-once.tsx'
import { When } from '../../parts/when.tsx'

export interface NewSecret {
  secret: string
  /** Until when events are also signed with the one before. */
  previousUntil: string | null
}

export const SecretOnce = ({
  made: { secret, previousUntil },
  close,
}: {
  made: NewSecret
  close(): void
}) => {
  const id = useId()
  const ref = useRef<HTMLHeadingElement>(null)
  // Another secret may take the place of the one that is shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each secret
  useEffect(() => ref.current?.focus(), [secret])
  return (
    <section className="panel is-secret" aria-labelledby={id}>
      <h3 id={id} ref={ref} tabIndex={-1}>
        The signing secret. Copy it now: it is shown this once.
      </h3>
      <p className="soft">Your receiver verifies with it that an event comes from here.</p>
      <Copied title="Secret" text={secret} />
      {previousUntil && (
        <p>
          Until <When at={previousUntil} /> events are signed with the previous secret as well, so
          that your receiver can change over without losing any.
        </p>
      )}
      <div className="panel-actions">
        <button type="button" className="action go" onClick={close}>
          I have copied it
        </button>
      </div>
    </section>
  )
}
