/** The links there are, and their end. */
import { useRef, useState } from 'react'
import { queryClient } from '../../api/queries.ts'
import { useCommand } from '../../api/use-command.ts'
import { boot } from '../../boot.ts'
import { notify } from '../../frame/notices.ts'
import { ActionButton } from '../../parts/action.tsx'
import { AskFirst } from '../../parts/dialog.tsx'
import { More } from '../../parts/more.tsx'
import { Failed, ReadView } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { type ConnectedChannel, LINKS, type SenderLink, useLinks } from './read.ts'

const { person, role } = boot.session

const isOwn = ({ personId }: SenderLink): boolean => personId === person.id

/** The operation is everybody's; of others' links, those decide who decide about channels. */
const whyNot = (link: SenderLink): string | undefined =>
  isOwn(link) || role === 'owner' || role === 'approver'
    ? undefined
    : 'Owners and approvers may end the links of others.'

const callOf = ({ name, sender }: SenderLink): string => name ?? sender

interface AskProps {
  of: ConnectedChannel
  link: SenderLink
  close(): void
  ended(): void
}

const AskEnd = ({ of, link, close, ended }: AskProps) => {
  const remove = useCommand('agent.channelIdentities.remove')
  const act = async () => {
    if (!(await remove.run({ id: of.id, identityId: link.id }))) return
    close()
    notify({ says: 'Link ended', about: callOf(link) })
    await queryClient.invalidateQueries({ queryKey: [LINKS] })
    // The dialog has given the focus back to a button that is gone by now.
    ended()
  }
  return (
    <AskFirst
      title="End this link?"
      does="End the link"
      tone="harm"
      busy={remove.isRunning}
      act={() => void act()}
      close={close}
    >
      <p>
        <strong>
          <bdi>{callOf(link)}</bdi>
        </strong>{' '}
        in <bdi>{of.displayName}</bdi> is a stranger to the agent from then on. Its unfinished jobs
        end, its schedules and webhook rules stop, and answers that wait for it are not sent.
      </p>
      {remove.cause !== undefined && <Failed cause={remove.cause} what="It was not ended." />}
    </AskFirst>
  )
}

const Row = ({ of, link, ended }: { of: ConnectedChannel; link: SenderLink; ended(): void }) => {
  const [asks, setAsks] = useState(false)
  return (
    <li className="link-row">
      <p>
        <strong>
          <bdi>{callOf(link)}</bdi>
        </strong>
        {link.name !== null && (
          <>
            {' '}
            <bdi className="mono soft">{link.sender}</bdi>
          </>
        )}
        <br />
        <span className="soft">
          is {isOwn(link) ? 'you' : <bdi>{link.personName ?? 'a member'}</bdi>}, since{' '}
          <When at={link.verifiedAt} />
        </span>
      </p>
      <ActionButton
        calls="agent.channelIdentities.remove"
        tone="harm"
        refused={whyNot(link)}
        label={`End the link of ${callOf(link)}`}
        act={() => setAsks(true)}
      >
        End
      </ActionButton>
      {asks && <AskEnd of={of} link={link} close={() => setAsks(false)} ended={ended} />}
    </li>
  )
}

export const Links = ({ of }: { of: ConnectedChannel }) => {
  const pages = useLinks(of.id)
  const heading = useRef<HTMLHeadingElement>(null)
  const links = pages.data?.pages.flatMap(({ identities }) => identities) ?? []
  return (
    <div className="links">
      <h4 ref={heading} tabIndex={-1}>
        Linked senders
      </h4>
      <ReadView read={pages} what="The list of linked senders" lines={2}>
        {links.length === 0 ? (
          <p className="soft">Nobody is linked here.</p>
        ) : (
          <ul>
            {links.map((link) => (
              <Row key={link.id} of={of} link={link} ended={() => heading.current?.focus()} />
            ))}
          </ul>
        )}
        <More pages={pages} what="links" />
      </ReadView>
    </div>
  )
}
