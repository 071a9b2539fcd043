/**
 * What requests that change something cost, in millionths of a US dollar. The prices of reads are
 * in the domain's read-budget.ts.
 */
export interface NetworkPrices {
  post: number
  /** A post whose text contains a link. */
  postWithLink: number
  /** A reply to somebody who mentioned or quoted the account. */
  reply: number
  /** A like or a repost. */
  interaction: number
}
