/** A new key, once, with what connects a client. */
import { useEffect, useId, useRef } from 'react'
import type { AnswerOf } from '../../api/operations.ts'
import { boot } from '../../boot.ts'
import { Copied } from '../../parts/shown-once.tsx'
import { curlCommand, mcpConfiguration } from './client-texts.ts'

export const MadeKey = ({
  made: { key, api_key },
  close,
}: {
  made: AnswerOf<'app.keys.create'>
  close(): void
}) => {
  const id = useId()
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => ref.current?.focus(), [])
  const origin = boot.public_url.replace(/\/$/, '')
  return (
    <section className="panel is-secret" aria-labelledby={id}>
      <h3 id={id} ref={ref} tabIndex={-1}>
        <bdi>{key.name}</bdi> is made. Copy it now: it is shown this once.
      </h3>
      <p className="soft">
        The server keeps only its hash. Whoever has the key can do what it may do, so show it to
        nobody.
      </p>
      <Copied title="Key" text={api_key} />
      {key.scopes.includes('mcp:use') && (
        <Copied title="MCP configuration" text={mcpConfiguration(origin, api_key)}>
          For the settings of an MCP client. Its tools are the 20 that a post needs; the address
          without <code className="mono unbroken">?toolsets=core</code> has more.
        </Copied>
      )}
      {key.scopes.includes('api:read') && (
        <Copied title="curl" text={curlCommand(origin, api_key)}>
          Tries the key in a terminal.
        </Copied>
      )}
      <div className="panel-actions">
        <button type="button" className="action go" onClick={close}>
          I have copied it
        </button>
      </div>
    </section>
  )
}
