/** An engagement: the post that it answers, its text, and what is decided. */
import { useRef } from 'react'
import { useRead } from '../../api/queries.ts'
import { Exact } from '../../parts/exact-text.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { Bones, ReadView } from '../../parts/states.tsx'
import { AskingCalls } from '../asking-calls.tsx'
import { YourChanges } from '../draft/changes.tsx'
import { checkText, type TextCheck, type TextRules } from '../draft/checks.ts'
import { BothTexts } from '../draft/conflict.tsx'
import { EditedPost } from '../draft/edited-post.tsx'
import type { EditorHandle } from '../draft/editor.tsx'
import { Versions } from '../draft/versions.tsx'
import { TextWarnings } from '../draft/warnings.tsx'
import type { PaneProps } from '../pane-props.ts'
import { ByHand, PossibleActions, refusalIn, verdictOn } from './by-hand.tsx'
import { EngagementFoot } from './foot.tsx'
import { useDeciding } from './use-deciding.ts'
import { type DraftedEngagement, type ReplyText, useReplyText } from './use-reply-text.ts'

const AnsweredPost = ({ post }: { post: DraftedEngagement['post'] }) => (
  <section className="answered" aria-label="The post, somebody else's words">
    <p className="soft">
      <bdi>@{post.author ?? '?'}</bdi> on {post.network}
      {post.addresses_us && ', to you'}
      <OutsideLink url={post.url} />
    </p>
    <blockquote className="plain-text" dir="auto">
      <Exact text={post.text ?? 'Its text was not read.'} />
    </blockquote>
  </section>
)

interface ReplyProps {
  engagement: DraftedEngagement
  text: ReplyText
  check: TextCheck
  send(): void
}

const Reply = ({ engagement, text, check, send }: ReplyProps) => {
  const handle = useRef<EditorHandle>(null)
  return (
    <>
      {text.isStale && (
        <BothTexts
          of="engagement"
          record={engagement}
          mine={text.text}
          keepMine={text.keepMine}
          takeTheirs={text.forget}
        />
      )}
      <EditedPost
        kind="post"
        handle={handle}
        edited={text}
        check={check}
        label={`The ${engagement.action}`}
        counted={text.text.length}
        hash={text.isEdited ? undefined : (engagement.content_hash ?? undefined)}
        approve={send}
      />
      <TextWarnings check={check} />
      {text.isEdited && (
        <YourChanges before={engagement.body ?? ''} after={text.text} reset={text.forget} />
      )}
      <Versions
        of="engagement"
        record={engagement}
        edited={text}
        begin={() => handle.current?.focus()}
      />
    </>
  )
}

const refusalOf = (
  { status }: DraftedEngagement,
  { isStale }: ReplyText,
  check: TextCheck | undefined,
): string | undefined => {
  if (status !== 'drafted') return `It is ${status.replaceAll('_', ' ')} and no longer a draft.`
  return isStale ? 'Choose one of the two texts first.' : check?.faults[0]
}

interface ViewProps {
  engagement: DraftedEngagement
  rules: TextRules
  next(): void
}

const EngagementView = ({ engagement, rules, next }: ViewProps) => {
  const text = useReplyText(engagement)
  const decisions = useDeciding(engagement, text, next)
  const check = engagement.body === null ? undefined : checkText(text.text, rules)
  const refused = refusalOf(engagement, text, check)
  const verdict = engagement.status === 'drafted' ? verdictOn(engagement) : undefined
  const byHand = refusalIn(verdict)
  return (
    <>
      <div className="pane-body">
        <AnsweredPost post={engagement.post} />
        <ByHand engagement={engagement} verdict={verdict} text={text.text} />
        {check ? (
          <Reply
            engagement={engagement}
            text={text}
            check={check}
            send={() => (refused ?? byHand) === undefined && decisions.approve()}
          />
        ) : (
          <p>You {engagement.action} this post. There is no text.</p>
        )}
        {engagement.rationale && (
          <dl className="about">
            <dt>Why this {engagement.action}</dt>
            <dd dir="auto">{engagement.rationale}</dd>
          </dl>
        )}
        <PossibleActions actions={engagement.actions} />
      </div>
      <EngagementFoot
        action={engagement.action}
        author={engagement.post.author}
        text={text.text}
        refused={refused}
        byHand={byHand}
        decisions={decisions}
      />
    </>
  )
}

export const EngagementPane = ({ id, entry, next }: PaneProps) => {
  const read = useRead('growth.engagements.get', { id })
  const { data: ours } = useRead('growth.connection.get', {})
  const engagement = read.data?.engagement
  const rules: TextRules | undefined = ours && {
    kind: 'post',
    limits: ours.connection.limits,
    rules: undefined,
  }
  return (
    <>
      <AskingCalls entry={entry} />
      <ReadView read={read} what="The engagement" lines={6}>
        {engagement && rules ? (
          <EngagementView key={id} engagement={engagement} rules={rules} next={next} />
        ) : (
          <Bones />
        )}
      </ReadView>
    </>
  )
}
