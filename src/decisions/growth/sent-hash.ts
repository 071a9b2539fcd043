/** By what a sent record is recognised on its network. */
import { createHash } from 'node:crypto'
import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import { fingerprintText } from '#port/network/text'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export const hashOfPost = ({ body }: Pick<Item, 'body'>): string => sha256(fingerprintText(body))

export const hashOfEngagement = ({
  body,
  action,
  post_id,
}: Pick<Engagement, 'body' | 'action' | 'post_id'>): string =>
  sha256(JSON.stringify([action, post_id, fingerprintText(body ?? '')]))
