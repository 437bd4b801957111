import torch
from torch import device, inf, nan


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1, in_2, in_3, in_4, in_5, in_6, in_7, in_8, in_9, in_10, in_11, in_12, in_13, in_14, in_15, in_16, in_17, in_18, in_19, in_20, in_21, in_22, in_23, in_24, in_25, in_26, in_27, in_28, in_29, in_30, in_31, in_32, in_33, in_34, in_35, in_36, in_37, in_38, in_39, in_40, in_41, in_42, in_43, in_44, in_45, in_46, in_47, in_48, in_49, in_50):
        tmp_0 = torch.nn.functional.batch_norm(in_0, in_1, in_2, in_3, in_4, False, 0.1, 1e-05)
        in_0 = in_1 = in_2 = in_3 = in_4 = None
        tmp_1 = in_5 + tmp_0
        in_5 = tmp_0 = None
        tmp_2 = torch.nn.functional.relu(tmp_1, inplace=True)
        tmp_1 = None
        tmp_3 = torch.conv2d(tmp_2, in_6, None, (1, 1), (0, 0), (1, 1), 1)
        in_6 = None
        tmp_4 = torch.nn.functional.batch_norm(tmp_3, in_7, in_8, in_9, in_10, False, 0.1, 1e-05)
        in_7 = in_8 = in_9 = in_10 = tmp_3 = None
        tmp_5 = torch.nn.functional.relu(tmp_4, inplace=True)
        tmp_4 = None
        tmp_6 = torch.conv2d(tmp_5, in_11, None, (1, 1), (0, 0), (1, 1), 1)
        in_11 = tmp_5 = None
        tmp_7 = torch.functional.split(tmp_6, [64, 16, 64], dim=1)
        tmp_6 = None
        tmp_8 = tmp_7[0]
        tmp_9 = torch.nn.functional.batch_norm(tmp_8, in_12, in_13, in_14, in_15, False, 0.1, 1e-05)
        in_12 = in_13 = in_14 = in_15 = tmp_8 = None
        tmp_10 = tmp_9.reshape(2, 4, 16, 100)
        tmp_9 = None
        tmp_11 = tmp_10.transpose(-1, -2)
        tmp_10 = None
        tmp_12 = tmp_7[2]
        tmp_13 = torch.nn.functional.batch_norm(tmp_12, in_16, in_17, in_18, in_19, False, 0.1, 1e-05)
        in_16 = in_17 = in_18 = in_19 = tmp_12 = None
        tmp_14 = tmp_13.reshape(2, 64, 100)
        tmp_13 = None
        tmp_15 = tmp_14.transpose(-1, -2)
        tmp_14 = None
        tmp_16 = tmp_7[1]
        tmp_7 = None
        tmp_17 = tmp_16.reshape(2, 16, 100)
        tmp_16 = None
        tmp_18 = torch.nn.functional.softmax(tmp_17, dim=-1)
        tmp_17 = None
        tmp_19 = tmp_18 @ tmp_15
        tmp_18 = None
        tmp_20 = tmp_19.unsqueeze(1)
        tmp_19 = None
        tmp_21 = tmp_11 @ tmp_20
        tmp_20 = None
        tmp_22 = tmp_15.reshape(2, 1, 10, 10, 64)
        tmp_15 = None
        tmp_23 = torch.conv3d(tmp_22, in_20, in_21, (1, 1, 1), (4, 4, 0), (1, 1, 1), 1)
        in_20 = in_21 = tmp_22 = None
        tmp_24 = tmp_23.reshape(2, 1, 16, 100, 64)
        tmp_23 = None
        tmp_25 = tmp_24.transpose(2, 3)
        tmp_24 = None
        tmp_26 = tmp_11.unsqueeze(-2)
        tmp_11 = None
        tmp_27 = tmp_26 @ tmp_25
        tmp_25 = tmp_26 = None
        tmp_28 = tmp_27.squeeze(-2)
        tmp_27 = None
        tmp_29 = tmp_21 + tmp_28
        tmp_21 = tmp_28 = None
        tmp_30 = tmp_29.transpose(-1, -2)
        tmp_29 = None
        tmp_31 = tmp_30.reshape(2, 256, 10, 10)
        tmp_30 = None
        tmp_32 = torch.nn.functional.batch_norm(tmp_31, in_22, in_23, in_24, in_25, False, 0.1, 1e-05)
        in_22 = in_23 = in_24 = in_25 = tmp_31 = None
        tmp_33 = torch.nn.functional.relu(tmp_32, inplace=True)
        tmp_32 = None
        tmp_34 = torch.conv2d(tmp_33, in_26, None, (1, 1), (0, 0), (1, 1), 1)
        in_26 = tmp_33 = None
        tmp_35 = torch.nn.functional.batch_norm(tmp_34, in_27, in_28, in_29, in_30, False, 0.1, 1e-05)
        in_27 = in_28 = in_29 = in_30 = tmp_34 = None
        tmp_36 = tmp_35 + tmp_2
        tmp_2 = tmp_35 = None
        tmp_37 = torch.nn.functional.relu(tmp_36, inplace=True)
        tmp_36 = None
        tmp_38 = torch.conv2d(tmp_37, in_31, None, (1, 1), (0, 0), (1, 1), 1)
        in_31 = None
        tmp_39 = torch.nn.functional.batch_norm(tmp_38, in_32, in_33, in_34, in_35, False, 0.1, 1e-05)
        in_32 = in_33 = in_34 = in_35 = tmp_38 = None
        tmp_40 = torch.nn.functional.relu(tmp_39, inplace=True)
        tmp_39 = None
        tmp_41 = torch.conv2d(tmp_40, in_36, None, (1, 1), (0, 0), (1, 1), 1)
        in_36 = tmp_40 = None
        tmp_42 = torch.functional.split(tmp_41, [64, 16, 128], dim=1)
        tmp_41 = None
        tmp_43 = tmp_42[0]
        tmp_44 = torch.nn.functional.batch_norm(tmp_43, in_37, in_38, in_39, in_40, False, 0.1, 1e-05)
        in_37 = in_38 = in_39 = in_40 = tmp_43 = None
        tmp_45 = tmp_44.reshape(2, 4, 16, 100)
        tmp_44 = None
        tmp_46 = tmp_45.transpose(-1, -2)
        tmp_45 = None
        tmp_47 = tmp_42[2]
        tmp_48 = torch.nn.functional.batch_norm(tmp_47, in_41, in_42, in_43, in_44, False, 0.1, 1e-05)
        in_41 = in_42 = in_43 = in_44 = tmp_47 = None
        tmp_49 = tmp_48.reshape(2, 128, 100)
        tmp_48 = None
        tmp_50 = tmp_49.transpose(-1, -2)
        tmp_49 = None
        tmp_51 = tmp_42[1]
        tmp_42 = None
        tmp_52 = tmp_51.reshape(2, 16, 100)
        tmp_51 = None
        tmp_53 = torch.nn.functional.softmax(tmp_52, dim=-1)
        tmp_52 = None
        tmp_54 = tmp_53 @ tmp_50
        tmp_53 = None
        tmp_55 = tmp_54.unsqueeze(1)
        tmp_54 = None
        tmp_56 = tmp_46 @ tmp_55
        tmp_55 = None
        tmp_57 = tmp_50.reshape(2, 1, 10, 10, 128)
        tmp_50 = None
        tmp_58 = torch.conv3d(tmp_57, in_45, in_46, (1, 1, 1), (4, 4, 0), (1, 1, 1), 1)
        in_45 = in_46 = tmp_57 = None
        tmp_59 = tmp_58.reshape(2, 1, 16, 100, 128)
        tmp_58 = None
        tmp_60 = tmp_59.transpose(2, 3)
        tmp_59 = None
        tmp_61 = tmp_46.unsqueeze(-2)
        tmp_46 = None
        tmp_62 = tmp_61 @ tmp_60
        tmp_60 = tmp_61 = None
        tmp_63 = tmp_62.squeeze(-2)
        tmp_62 = None
        tmp_64 = tmp_56 + tmp_63
        tmp_56 = tmp_63 = None
        tmp_65 = tmp_64.transpose(-1, -2)
        tmp_64 = None
        tmp_66 = tmp_65.reshape(2, 512, 10, 10)
        tmp_65 = None
        tmp_67 = torch._C._nn.avg_pool2d(tmp_66, 2, 2, 0, False, True, None)
        tmp_66 = None
        tmp_68 = torch.nn.functional.batch_norm(tmp_67, in_47, in_48, in_49, in_50, False, 0.1, 1e-05)
        in_47 = in_48 = in_49 = in_50 = tmp_67 = None
        return (tmp_37, tmp_68)
