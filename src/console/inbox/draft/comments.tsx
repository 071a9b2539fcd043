/** What the team says about a draft. */
import { useRef } from 'react'
import { errorWords } from '../../api/errors.ts'
import { command, queryClient, useRead } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { ActionButton } from '../../parts/action.tsx'
import { When } from '../../parts/when.tsx'
import { writerName } from '../../parts/writer-name.ts'
import { useTyping } from '../../typed/use-typing.ts'

const SHOWN = 25

const useComment = (id: string) => {
  const typing = useTyping(`comment:${id}`)
  const { text = '' } = typing
  return {
    text,
    change(next: string) {
      if (next === '') typing.drop()
      else typing.type(next)
    },
    async send() {
      if (text.trim() === '') return
      try {
        await command('growth.items.comment', { id, body: text })
        typing.drop()
        notify({ says: 'Commented' })
      } catch (cause) {
        notify({ says: errorWords(cause), tone: 'bad' })
      }
      await queryClient.invalidateQueries({ queryKey: ['growth.items.comments'] })
    },
  }
}

export const Comments = ({ id }: { id: string }) => {
  const { data } = useRead('growth.items.comments', { id, limit: SHOWN })
  const { text, change, send } = useComment(id)
  const field = useRef<HTMLTextAreaElement>(null)
  useShortcut('comment', () => field.current?.focus())
  return (
    <section className="comments" aria-label="Comments">
      {data?.comments.toReversed().map((comment) => (
        <article key={comment.id}>
          <p className="soft">
            <bdi>{writerName(comment.written_by)}</bdi>
            {comment.kind === 'rejection' && ' rejected it'}, <When at={comment.created_at} />
          </p>
          <p className="plain-text" dir="auto">
            {comment.body}
          </p>
        </article>
      ))}
      <div className="comment-new">
        <textarea
          ref={field}
          className="field"
          name="comment"
          autoComplete="off"
          aria-label="Comment for your team"
          placeholder="Comment for your team"
          rows={1}
          maxLength={4_000}
          value={text}
          onChange={({ target }) => change(target.value)}
        />
        {text.trim() !== '' && (
          <ActionButton calls="growth.items.comment" act={() => void send()}>
            Comment
          </ActionButton>
        )}
      </div>
    </section>
  )
}
