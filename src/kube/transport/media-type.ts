/** The binary form of objects of Kubernetes; a watch's has a parameter. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

export function isProtobuf(contentType: string | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === PROTOBUF;
}
